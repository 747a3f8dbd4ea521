// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/mapped_operators.hpp>

#include "../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/operator_view.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace test::model_mapped_operators {

using stemma::id;
using stemma::mapped_operators;

namespace {

struct task {
    std::string name;
    std::string kind;
    std::vector<std::string> inputs{};
};

using task_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, task>;

std::vector<std::string> parameters_of(const auto& ops, std::size_t v) {
    std::vector<std::string> names;
    ops.for_each_parameter(v, [&](id p) { names.emplace_back(ops.parameter_name(p)); });
    return names;
}

} // namespace

TEST_CASE("mapped_operators: reads names and types from the maps", "[model][mapped_operators]") {
    task_graph graph;
    add_vertex(task{"link", "ld", {"a.o", "b.o"}}, graph);
    add_vertex(task{"", "", {}}, graph);
    const mapped_operators ops(graph, get(&task::name, graph), get(&task::kind, graph));
    STATIC_REQUIRE(stemma::named_operators<decltype(ops)>);
    STATIC_REQUIRE(stemma::parameter_readers<decltype(ops)>);
    STATIC_REQUIRE_FALSE(stemma::nested_operators<decltype(ops)>);
    STATIC_REQUIRE_FALSE(stemma::data_aware_operators<decltype(ops)>);
    CHECK(&ops.graph() == &graph);
    CHECK(ops.name(0) == "link");
    CHECK(ops.op_type(0) == "ld");
    CHECK(ops.name(1).empty());
    CHECK(ops.parameter_count() == 0);
    CHECK(parameters_of(ops, 0).empty());
}

TEST_CASE("mapped_operators: numbers equal parameters once, and keeps their order",
          "[model][mapped_operators]") {
    task_graph graph;
    const std::vector<std::vector<std::string>> inputs{
        {"w", "b"}, {}, {"w"}, {"b", "w", "b"}, {""}};
    for (const auto& names : inputs) {
        add_vertex(task{"t", "k", names}, graph);
    }
    const mapped_operators ops(graph, get(&task::name, graph), get(&task::kind, graph),
                               get(&task::inputs, graph));
    CHECK(ops.parameter_count() == 3);
    for (std::size_t v = 0; v < inputs.size(); ++v) {
        CHECK(parameters_of(ops, v) == inputs[v]);
    }
}

} // namespace test::model_mapped_operators
