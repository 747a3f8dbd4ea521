// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/explain_reads.hpp>

#include "../../catch.hpp"
#include "../../chain_graph.hpp"
#include "../../opened_graph.hpp"
#include "../../wire_builder.hpp"

#include <stemma/compare/detail/changed_reads.hpp>
#include <stemma/compare/detail/compared_model.hpp>
#include <stemma/compare/detail/module_pairs.hpp>
#include <stemma/compare/detail/node_match.hpp>
#include <stemma/compare/detail/paired_graphs.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/open/attributed_model.hpp>

#include <string>
#include <vector>

namespace test::compare_detail_explain_reads {

namespace {

/// A model of a `chain_graph`.
stemma::attributed_model chain(const test::names& order, const std::string& skip) {
    const auto graph = test::chain_graph(order, skip, {"y"});
    return {stemma::mapped_file::holding(test::model(graph).bytes(), "memory"), {}};
}

/// Returns: modules that moved, then those of readers whose reads changed otherwise after a `|`.
std::string explained(const stemma::attributed_model& from, const stemma::attributed_model& to) {
    const stemma::detail::compared_model a(from);
    const stemma::detail::compared_model b(to);
    stemma::detail::node_match match(a.model().node_count(), b.model().node_count());
    for (stemma::id v = 0; v < a.model().node_count(); ++v) {
        for (stemma::id w = 0; w < b.model().node_count(); ++w) {
            if (a.model().name(v) == b.model().name(w)) {
                match.add(v, w);
            }
        }
    }
    const auto pairs =
        stemma::detail::pair_modules(a.modules(), a.contents(), b.modules(), b.contents());
    const auto explanation = stemma::detail::explain_reads(
        a, b, pairs, match,
        stemma::detail::find_changed_reads(
            a, b, match, stemma::detail::paired_graphs(a.model(), b.model(), match)));
    std::string text;
    for (auto m : explanation.moved) {
        text.append(a.modules().name(m)).append(" ");
    }
    text.append("|");
    for (const auto& read : explanation.rewired) {
        text.append(" ").append(a.modules().name(a.module_of(read.reader)));
    }
    return text;
}

/// Modules 0, 1, ... that run in this order now.
std::vector<stemma::id> reordered(const std::vector<stemma::id>& now) {
    std::vector<stemma::detail::module_run> runs;
    for (stemma::id rank = 0; rank < now.size(); ++rank) {
        runs.push_back({now[rank], rank, now[rank]});
    }
    return stemma::detail::find_reordered(runs);
}

} // namespace

TEST_CASE("explain_reads: modules that moved explain what they and their neighbours read") {
    const auto base = chain({"Abs", "Exp", "Neg", "Sin", "Cos"}, "vAbs");
    CHECK(explained(base, base) == "|");
    CHECK(explained(base, chain({"Abs", "Neg", "Exp", "Sin", "Cos"}, "vAbs")) == "Exp Neg |");
    CHECK(explained(base, chain({"Abs", "Neg", "Sin", "Exp", "Cos"}, "vAbs")) == "Exp |");
    CHECK(explained(base, chain({"Abs", "Exp", "Neg", "Cos", "Sin"}, "vAbs")) == "Sin Cos |");
}

TEST_CASE("explain_reads: other reads remain") {
    const auto base = chain({"Abs", "Exp", "Neg", "Sin", "Cos"}, "vAbs");
    CHECK(explained(base, chain({"Abs", "Exp", "Neg", "Sin", "Cos"}, "vSin")) == "| head");
    CHECK(explained(base, chain({"Abs", "Neg", "Exp", "Sin", "Cos"}, "x")) == "Exp Neg | head");
}

TEST_CASE("find_reordered: modules in the same order did not move") {
    CHECK(reordered({}).empty());
    CHECK(reordered({0}).empty());
    CHECK(reordered({0, 1, 2, 3}).empty());
}

TEST_CASE("find_reordered: reports only the one that moved") {
    CHECK(reordered({0, 2, 3, 4, 1, 5}) == std::vector<stemma::id>{1});
    CHECK(reordered({0, 4, 1, 2, 3, 5}) == std::vector<stemma::id>{4});
}

TEST_CASE("find_reordered: reports both of two swapped neighbours") {
    CHECK(reordered({0, 2, 1, 3}) == std::vector<stemma::id>{1, 2});
    CHECK(reordered({1, 0}) == std::vector<stemma::id>{0, 1});
}

TEST_CASE("find_reordered: modules between two in either model keep them from being neighbours") {
    CHECK(reordered({0, 3, 1, 2, 4}) == std::vector<stemma::id>{3});
    CHECK(reordered({1, 0, 3, 2}) == std::vector<stemma::id>{0, 1, 2, 3});
}

TEST_CASE("find_reordered: many swapped neighbours take no longer than sorting them") {
    std::vector<stemma::id> now;
    for (stemma::id i = 0; i < 200'000; i += 2) {
        now.insert(now.end(), {i + 1, i});
    }
    CHECK(reordered(now).size() == now.size());
}

TEST_CASE("module_reach: a module computes from those before it on a path") {
    // More modules than fit into a word, each reading the one before the previous one.
    constexpr stemma::id count = 70;
    std::vector<test::message> nodes;
    const auto value = [](stemma::id i) { return "v" + std::to_string(i); };
    for (stemma::id i = 0; i < count; ++i) {
        nodes.push_back(test::node("Relu", {i < 2 ? "x" : value(i - 2)}, {value(i)},
                                   "/m" + std::to_string(i) + "/Relu"));
    }
    const auto opened = test::in_memory(
        test::model(test::graph(nodes, {"x"}, {value(count - 1), value(count - 2)})).bytes());
    const stemma::detail::compared_model side(opened);
    std::vector<stemma::id> modules;
    for (stemma::id i = 0; i < count; ++i) {
        modules.push_back(side.module_of(i));
    }
    const stemma::detail::module_reach reach(side, modules);
    bool is_right = true;
    for (stemma::id i = 0; i < count; ++i) {
        for (stemma::id j = 0; j < count; ++j) {
            is_right = is_right && (i == j || reach.reaches(i, j) == (i < j && (j - i) % 2 == 0));
        }
    }
    CHECK(is_right);
}

} // namespace test::compare_detail_explain_reads
