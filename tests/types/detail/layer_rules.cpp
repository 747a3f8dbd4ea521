// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/layer_rules.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <string>
#include <vector>

namespace test::types_detail_layer_rules {

namespace {

std::string fused(const test::inference_scene& scene, const char* op, const test::names& inputs,
                  const std::vector<test::message>& attributes = {},
                  const test::names& outputs = {"y"}, const char* domain = "com.microsoft") {
    return test::inferred_in(domain, scene, op, inputs, attributes, outputs);
}

} // namespace

TEST_CASE("layer_rules: attributes name the types of statistics and of dequantized values",
          "[detail]") {
    auto scene = test::inference_scene().input("x", {2, 4}).input("q", {2, 4}, 3).weight("s", {4});
    const auto mean = [&](const std::vector<test::message>& attributes) {
        auto extended = scene;
        extended.node(test::owner_node("LayerNormalization", {"x", "s"}, {"y", "m"}, attributes));
        return extended.type_of("m");
    };
    CHECK(mean({}) == "float32[2,1]");
    CHECK(mean(test::attributes("stash_type=16")) == "bfloat16[2,1]");
    CHECK(test::inferred(scene, "DequantizeLinear", {"q", "s"}) == "float32[2,4]");
    CHECK(test::inferred(scene, "DequantizeLinear", {"q", "s"}, test::attributes("output_dtype=10"),
                         23) == "float16[2,4]");
}

TEST_CASE("layer_rules: a function's own opset decides the types of its results", "[detail]") {
    const auto mask_with = [](std::uint64_t of_model, std::uint64_t of_function) {
        auto graph = test::graph({test::node("Own", {"x"}, {"y"}, "", "local")});
        graph.inner(1, test::node("Dropout", {"x"}, {"z", "m"}));
        graph.inner(11, test::typed_value("x", {2, 3}));
        auto own = test::function("local", "Own", {"x"}, {"m"},
                                  {test::node("Dropout", {"x"}, {"z", "m"})});
        if (of_function != 0) {
            own.inner(9, test::opset("", of_function));
        }
        const test::inferred_model model(test::model(graph, 8, of_model).inner(25, own));
        std::string text;
        for (const char* value : {"y", "z", "m"}) {
            text.append(value).append(":").append(model.type_of(value)).append(" ");
        }
        return text;
    };
    CHECK(mask_with(9, 12) == "y:bool[2,3] z:float32[2,3] m:float32[2,3] ");
    CHECK(mask_with(12, 9) == "y:float32[2,3] z:float32[2,3] m:bool[2,3] ");
    CHECK(mask_with(12, 0) == "y:bool[2,3] z:float32[2,3] m:bool[2,3] ");
    CHECK(mask_with(12, 1000) == "y: z:float32[2,3] m:bool[2,3] ");
}

TEST_CASE("layer_rules: attention has a row per query row, also of packed ones", "[detail]") {
    const auto scene = test::inference_scene().input("packed", {2, 4, 3, 3, 8});
    CHECK(fused(scene, "MultiHeadAttention", {"packed"}) == "float32[2,4,24]");
}

TEST_CASE("layer_rules: ignores other operators, and these names in other domains", "[detail]") {
    const auto scene = test::inference_scene().input("x", {2, 3});
    CHECK(fused(scene, "Relu", {"x"}).empty());
    CHECK(fused(scene, "FusedGemm", {"x", "x"}, {}, {"y"}, "own").empty());
}

} // namespace test::types_detail_layer_rules
