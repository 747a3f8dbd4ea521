// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/fact_table.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../inferred_types.hpp"

namespace test::types_detail_fact_table {

namespace d = stemma::detail;

TEST_CASE("fact_table: starts with declared types and those of initializers",
          "[detail][fact_table]") {
    auto graph = test::graph({test::node("Add", {"x", "w", ""}, {"y"}, "sum")});
    graph.inner(11, test::typed_value("x", {2, 3}));
    graph.inner(5, test::whole_numbers("w", {4, 5}));
    const test::built_model model(test::model(graph));
    stemma::value_types types(model);
    d::fact_table table(model, types);
    CHECK(table.opset() == 17);
    const auto node = test::node_called(model, "sum");
    CHECK(table.input(node, 0).dims == d::extents{2, 3});
    CHECK(table.input(node, 1).data_type == d::int64_type);
    CHECK(table.input(node, 1).dims == d::extents{2});
    CHECK(table.input(node, 1).numbers == d::extents{4, 5});
    CHECK(table.has_input(node, 1));
    CHECK_FALSE(table.has_input(node, 2));
    CHECK_FALSE(table.has_input(node, 9));
    CHECK_FALSE(table.input(node, 9).ranked());
    CHECK(table.literal(model.inputs(node)[1]) == d::extents{4, 5});
}

TEST_CASE("fact_table: a sparse initializer has the extents of the whole", "[detail][fact_table]") {
    auto graph = test::graph({test::node("Relu", {"s"}, {"y"})});
    graph.inner(15, test::sparse_tensor("s").number(3, 6).number(3, 7));
    const test::built_model model(test::model(graph));
    stemma::value_types types(model);
    const d::fact_table table(model, types);
    CHECK(table.input(0, 0).data_type == d::float_type);
    CHECK(table.input(0, 0).dims == d::extents{6, 7});
}

TEST_CASE("fact_table: nodes have the opset that their function imports", "[detail][fact_table]") {
    test::message body;
    body.inner(1, test::node("Relu", {"x"}, {"r"}, "inside"));
    body.inner(12, test::message().text(1, "r"));
    auto own = test::function(
        "local", "Own", {"x"}, {"y"},
        {test::owner_node("If", {"x"}, {"y"}, {test::graph_attribute("then_branch", body)})});
    own.inner(9, test::opset("local", 1)).inner(9, test::opset("ai.onnx", 9));
    const test::built_model model(
        test::model(test::graph({test::node("Own", {"a"}, {"b"}, "call", "local")}))
            .inner(25, own));
    stemma::value_types types(model);
    const d::fact_table table(model, types);
    CHECK(table.opset_of(test::node_called(model, "call")) == 17);
    CHECK(table.opset_of(test::node_called(model, "inside")) == 9);
}

TEST_CASE("fact_table: known facts stay, new ones are added", "[detail][fact_table]") {
    const test::built_model model(
        test::model(test::graph({test::node("Own", {"x"}, {"y"}, "own")})));
    stemma::value_types types(model);
    d::fact_table table(model, types);
    const auto y = model.first_output(0);
    table.set(0, 0, d::made(d::float_type, d::extents{2, d::any_extent}));
    table.set(0, 0, d::made(d::int64_type, d::extents{5, 3}));
    CHECK(table[y].data_type == d::float_type);
    CHECK(table[y].dims == d::extents{2, 3});
    table.set(0, 7, d::made(d::float_type, d::extents{})); // no such output
}

TEST_CASE("fact_table: drops excessively large facts", "[detail][fact_table]") {
    const test::built_model model(
        test::model(test::graph({test::node("Own", {"x"}, {"y"}, "own")})));
    stemma::value_types types(model);
    d::fact_table table(model, types);
    table.set(0, 0, d::made(d::float_type, d::extents(d::max_extents + 1, 1)));
    CHECK_FALSE(table[model.first_output(0)].ranked());
}

} // namespace test::types_detail_fact_table
