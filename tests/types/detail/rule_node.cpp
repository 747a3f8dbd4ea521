// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/rule_node.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../inferred_types.hpp"

namespace test::types_detail_rule_node {

namespace d = stemma::detail;

TEST_CASE("rule_node: reads inputs, attributes and constants, and records outputs") {
    auto graph = test::graph(
        {test::owner_node("Own", {"x", "w", "", "s"}, {"y", "z"}, test::attributes("axis=2 off=0")),
         test::node("Shape", {"x"}, {"s"})});
    graph.inner(11, test::typed_value("x", {2, 3}));
    graph.inner(5, test::whole_numbers("w", {4, 5}));
    const test::built_model model(test::model(graph));
    stemma::value_types types(model);
    d::fact_table table(model, types);
    const d::rule_node node(table, 0);
    CHECK(node.input_count() == 4);
    CHECK(node.output_count() == 2);
    CHECK(node.opset() == 17);
    CHECK(node.input(0).dims == d::extents{2, 3});
    CHECK(node.has_input(1));
    CHECK_FALSE(node.has_input(2));
    CHECK_FALSE(node.input(7).ranked());
    CHECK(node.whole("axis", 9) == 2);
    CHECK(node.whole("other", 9) == 9);
    CHECK(node.is_set("axis"));
    CHECK_FALSE(node.is_set("off"));
    CHECK(node.literal(1) == d::extents{4, 5});
    CHECK(node.literal(1, "axis") == d::extents{4, 5});
    CHECK_FALSE(node.literal(2, "axes"));
    CHECK(node.numbers(1)->back() == stemma::polynomial(5));
    CHECK(node.producer(3)->op_type() == "Shape");
    CHECK(node.producer(3)->value_of(0) == node.value_of(0));
    CHECK_FALSE(node.producer(1));
    CHECK_FALSE(node.producer(2));
    table.set(1, 0, {d::int64_type, d::extents{2}, d::extents{2, 3}});
    CHECK(node.literal(3) == d::extents{2, 3}); // computed
    node.set_like(0, 0);
    node.set(1, d::bool_type, d::extents{7});
    node.set(2, d::bool_type, d::extents{7}); // no such output
    CHECK(table[model.first_output(0)].dims == d::extents{2, 3});
    CHECK(table[model.first_output(0) + 1].data_type == d::bool_type);
}

} // namespace test::types_detail_rule_node
