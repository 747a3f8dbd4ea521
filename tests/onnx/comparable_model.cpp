// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/comparable_model.hpp>

#include "../catch.hpp"
#include "../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

namespace test::onnx_comparable_model {

TEST_CASE("comparable_model: keeps the model's numbers, and ignores the order of attributes",
          "[onnx]") {
    auto first = test::node("Conv", {"x", "w"}, {"y"}, "a");
    first.inner(5, test::text_attribute("p", "1")).inner(5, test::text_attribute("q", "2"));
    auto second = test::node("Conv", {"y", "w"}, {"z"}, "b");
    second.inner(5, test::text_attribute("q", "2")).inner(5, test::text_attribute("p", "1"));
    auto third = test::node("Conv", {"z", "w"}, {"u"}, "c");
    third.inner(5, test::text_attribute("p", "1"));
    const auto bytes =
        test::model(test::graph({first, second, third}, {"x"}, {"u"}, {"w"})).bytes();
    const stemma::wire_model model(bytes);
    const auto graph = stemma::comparable_model(model);
    REQUIRE(graph.operator_count() == model.node_count());
    REQUIRE(graph.value_count() == model.value_count());
    CHECK(graph.attributes(0) == graph.attributes(1));
    CHECK(graph.attributes(0) != graph.attributes(2));
    CHECK(graph.outputs(0)[0] == model.first_output(0));
    CHECK(graph.results().size() == 1);
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        CHECK(graph.value_name(value) == model.value_name(value));
        CHECK((graph.role(value) == stemma::value_role::stored) == model.is_initializer(value));
    }
}

} // namespace test::onnx_comparable_model
