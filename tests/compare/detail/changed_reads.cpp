// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/changed_reads.hpp>

#include "../../catch.hpp"
#include "../../opened_graph.hpp"
#include "../../wire_builder.hpp"

#include <stemma/compare/detail/compared_model.hpp>
#include <stemma/compare/detail/node_match.hpp>
#include <stemma/compare/detail/paired_graphs.hpp>
#include <stemma/core/id.hpp>

#include <string>

namespace test::compare_detail_changed_reads {

namespace {

/// Returns: reader, producer before and after of each changed read if node i is node i: `2:0>1`;
/// `-` for none.
std::string changed(const test::message& first, const test::message& second) {
    const auto from = test::open_graph(first);
    const auto to = test::open_graph(second);
    const stemma::detail::compared_model a(from);
    const stemma::detail::compared_model b(to);
    stemma::detail::node_match match(a.model().node_count(), b.model().node_count());
    for (stemma::id v = 0; v < a.model().node_count(); ++v) {
        match.add(v, v);
    }
    std::string text;
    const auto number = [](stemma::id v) {
        return v == stemma::no_id ? std::string("-") : std::to_string(v);
    };
    const stemma::detail::paired_graphs graphs(a.model(), b.model(), match);
    for (const auto& read : stemma::detail::find_changed_reads(a, b, match, graphs)) {
        text.append(text.empty() ? "" : " ").append(number(read.reader)).append(":");
        text.append(number(read.before)).append(">").append(number(read.after));
    }
    return text;
}

} // namespace

TEST_CASE("find_changed_reads: producers, inputs, outputs of nodes and of the model") {
    const auto with = [](const test::names& inputs, const test::names& outputs) {
        return test::graph({test::node("Relu", {"x"}, {"r"}),
                            test::node("Split", {"r"}, {"s", "t"}),
                            test::node("Add", inputs, {"u"})},
                           {"x", "z"}, outputs);
    };
    const test::names y{"u", "s"};
    const test::names both{"r", "z"};
    CHECK(changed(with(both, y), with(both, y)).empty());
    CHECK(changed(with(both, y), with({"s", std::string("z")}, y)) == "2:0>1");
    CHECK(changed(with({"s", std::string("z")}, y), with({"t", std::string("z")}, y)) == "2:1>1");
    CHECK(changed(with(both, y), with({"r", std::string("x")}, y)) == "2:->-");
    CHECK(changed(with(both, y), with({"r", std::string("r")}, y)) == "2:->0");
    CHECK(changed(with(both, {"u"}), with(both, {"s"})) == "-:2>1");
    CHECK(changed(with(both, {"u"}), with(both, {"x"})) == "-:2>-");
}

} // namespace test::compare_detail_changed_reads
