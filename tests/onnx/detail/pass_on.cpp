// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/pass_on.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>

#include <string_view>
#include <vector>

namespace test::onnx_detail_pass_on {

TEST_CASE(
    "pass_on: results of Identity nodes, one behind another, have the origin of their input") {
    const test::built_model model(
        {test::node("Identity", {"w"}, {"a"}), test::node("Identity", {"a"}, {"b"}),
         test::node("Identity", {"x"}, {"c"}), test::node("Neg", {"w"}, {"d"}),
         test::node("Add", {"b", "c"}, {"y"})},
        {"x"}, {"y", "d"}, {"w"});
    std::vector<stemma::id> origins(model.value_count(), stemma::no_id);
    stemma::id weight = stemma::no_id;
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        weight = model.is_initializer(value) ? value : weight;
    }
    REQUIRE(weight != stemma::no_id);
    origins[weight] = weight;
    const auto passed = stemma::detail::pass_on(model, origins);
    REQUIRE(passed.size() == 5);
    CHECK(passed[0] == weight);
    CHECK(passed[1] == model.first_output(0));
    for (stemma::id node = 2; node < 5; ++node) {
        CHECK(passed[node] == stemma::no_id);
    }
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        const std::string_view name = model.value_name(value);
        const bool expected = name == "w" || name == "a" || name == "b";
        CHECK(origins[value] == (expected ? weight : stemma::no_id));
    }
}

TEST_CASE("pass_on: dequantized values have the origin of the first input, not that of a scale") {
    const test::built_model model({test::node("DequantizeLinear", {"w", "s", "z"}, {"d"}),
                                   test::node("DequantizeLinear", {"x", "s", "z"}, {"e"})},
                                  {"x"}, {"d", "e"}, {"w", "s", "z"});
    std::vector<stemma::id> origins(model.value_count(), stemma::no_id);
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        origins[value] = model.is_initializer(value) ? value : stemma::no_id;
    }
    CHECK(stemma::detail::pass_on(model, origins) ==
          std::vector<stemma::id>{model.inputs(0)[0], stemma::no_id});
    CHECK(origins[model.first_output(0)] == model.inputs(0)[0]);
    CHECK(origins[model.first_output(1)] == stemma::no_id);
}

TEST_CASE("passes_on: by domain and type") {
    using stemma::detail::passes_on;
    CHECK(passes_on("", "Identity"));
    CHECK(passes_on("", "DequantizeLinear"));
    CHECK(passes_on("com.microsoft", "DequantizeLinear"));
    CHECK_FALSE(passes_on("", "QuantizeLinear"));
    CHECK_FALSE(passes_on("com.microsoft", "Identity"));
    CHECK_FALSE(passes_on("com.example", "DequantizeLinear"));
    CHECK_FALSE(passes_on("", "DynamicQuantizeLinear"));
    CHECK_FALSE(stemma::detail::dequantizes("", "Identity"));
}

} // namespace test::onnx_detail_pass_on
