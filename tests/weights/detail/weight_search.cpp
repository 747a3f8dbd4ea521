// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/weight_search.hpp>

#include "../../catch.hpp"
#include "../../opened_graph.hpp"
#include "../../wire_builder.hpp"

#include <cstddef>
#include <string>

namespace test::weights_detail_weight_search {

TEST_CASE("weight_search: what is named after its value is no weight") {
    auto graph = test::graph({test::node("Mul", {"x", "const_0.5_f32"}, {"a"}, "/scale/Mul"),
                              test::node("Mul", {"a", "const_1.scale"}, {"y"}, "/norm/Mul")},
                             {"x"}, {"y"});
    graph.inner(5, test::tensor("const_0.5_f32", {1}, "0000"));
    graph.inner(5, test::tensor("const_1.scale", {1}, "0000"));
    const auto opened = test::in_memory(test::model(graph).bytes(), "model");
    const stemma::detail::weight_search search(opened,
                                               stemma::detail::state_entries(opened.modules()));
    REQUIRE(search.weights.size() == 2);
    CHECK_FALSE(search.weights[0]);
    CHECK(search.weights[1]);
}

TEST_CASE("is_named_by_value: a value and a type follow") {
    using stemma::detail::is_named_by_value;
    for (const auto* name : {"const_0.5_f32", "const_-3.4028e+38_f32", "const_1_i64"}) {
        CHECK(is_named_by_value(name));
    }
    for (const auto* name : {"const_1", "const_a_f32", "const_", "const_1.in_proj.bias", "w"}) {
        CHECK_FALSE(is_named_by_value(name));
    }
}

} // namespace test::weights_detail_weight_search
