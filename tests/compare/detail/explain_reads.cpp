// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/explain_reads.hpp>

#include "../../catch.hpp"
#include "../../chain_graph.hpp"
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

} // namespace test::compare_detail_explain_reads
