// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/comparable_graph.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../operator_scene.hpp"
#include "../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <vector>

namespace test::align_comparable_graph {

using stemma::comparable_graph;
using stemma::id;
using stemma::no_id;

TEST_CASE("comparable_graph: has operators and values as added", "[align]") {
    comparable_graph graph;
    CHECK(graph.operator_count() == 0);
    const auto x = graph.add_value(stemma::comparable_graph::value_role::given, "x");
    const auto w = graph.add_value(stemma::comparable_graph::value_role::stored, "w", {3, 4});
    const auto y = graph.add_value(stemma::comparable_graph::value_role::made, "y");
    const auto op = graph.add_operator({.type = "Conv", .name = "c", .hides_data = true},
                                       std::vector<id>{x, no_id, w}, std::vector<id>{y});
    graph.add_result(y);
    CHECK(graph.operator_count() == 1);
    CHECK(graph.inputs(op).size() == 3);
    CHECK(graph.outputs(op)[0] == y);
    CHECK(graph.maker(y) == op);
    CHECK(graph.maker(x) == no_id);
    CHECK(graph.type_text(graph.type(op)) == "Conv");
    CHECK(graph.hides_data(op));
    CHECK_FALSE(graph.opaque(op));
    CHECK(graph.content(w) == 3);
    CHECK(graph.loose_contents().size() == 1);
    CHECK(graph.results().size() == 1);
}

TEST_CASE("comparable: takes wiring, types and parameters from a view of operators", "[align]") {
    const test::built_model model(test::model(test::graph(
        {test::node("MatMul", {"x", "w"}, {"y"}, "a"), test::node("Relu", {"y"}, {"z"}, "b")},
        {"x"}, {"z"}, {"w"})));
    const stemma::onnx_operators<stemma::wire_model> ops(model);
    const auto graph = stemma::comparable(ops);
    REQUIRE(graph.operator_count() == 2);
    CHECK(graph.type_text(graph.type(0)) == "MatMul");
    CHECK(graph.name(1) == "b");
    REQUIRE(graph.inputs(1).size() == 1);
    CHECK(graph.maker(graph.inputs(1)[0]) == 0);
    REQUIRE(graph.inputs(0).size() == 1);
    CHECK(graph.value_name(graph.inputs(0)[0]) == "w");
}

TEST_CASE("comparable: outputs are in the order of their ports, however they are read", "[align]") {
    const test::built_model model(test::model(
        test::graph({test::node("Split", {"x"}, {"y", "z"}, "a"),
                     test::node("Relu", {"z"}, {"p"}, "b"), test::node("Neg", {"y"}, {"q"}, "c")},
                    {"x"}, {"p", "q"})));
    const auto graph = stemma::comparable(stemma::onnx_operators<stemma::wire_model>(model));
    REQUIRE(graph.outputs(0).size() == 2);
    CHECK(graph.inputs(1)[0] == graph.outputs(0)[1]);
    CHECK(graph.inputs(2)[0] == graph.outputs(0)[0]);
}

} // namespace test::align_comparable_graph
