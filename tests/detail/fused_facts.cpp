// SPDX-License-Identifier: Apache-2.0
#include <stemma/detail/fused_facts.hpp>

#include "../catch.hpp"
#include "../inferred_types.hpp"

#include <string>
#include <vector>

namespace test::detail_fused_facts {

namespace {

std::string fused(test::inference_scene scene, const char* op, const test::names& inputs,
                  const std::vector<test::message>& attributes = {},
                  const test::names& outputs = {"y"}, const char* domain = "com.microsoft") {
    auto made = test::owner_node(op, inputs, outputs, attributes);
    return scene.node(made.text(7, domain)).type_of(outputs.back());
}

} // namespace

TEST_CASE("fused_facts: what is fused has the type of what it stands for", "[detail]") {
    const auto scene = test::inference_scene()
                           .input("x", {1, 3, 8, 9})
                           .input("m", {6, 7})
                           .weight("w", {6, 3, 3, 3})
                           .weight("v", {7, 5})
                           .weight("b", {9});
    CHECK(fused(scene, "FusedConv", {"x", "w"}, {test::ints_attribute("pads", {1, 1, 1, 1})}) ==
          "float32[1,6,8,9]");
    CHECK(fused(scene, "FusedGemm", {"m", "v"}) == "float32[6,5]");
    for (const char* op : {"Gelu", "QuickGelu", "FastGelu"}) {
        CHECK(fused(scene, op, {"m"}) == "float32[6,7]");
    }
    CHECK(fused(scene, "BiasGelu", {"x", "b"}) == "float32[1,3,8,9]");
    CHECK(fused(scene, "SkipLayerNormalization", {"x", "x", "b"}) == "float32[1,3,8,9]");
    CHECK(fused(scene, "SkipLayerNormalization", {"x", "x", "b"}, {}, {"y", "", "", "sum"}) ==
          "float32[1,3,8,9]");
}

TEST_CASE("fused_facts: a product of matrices that are transposed", "[detail]") {
    const auto scene = test::inference_scene().input("a", {2, 4, 3}).input("b", {2, 5, 4});
    const auto set = [](const char* name) { return test::int_attribute(name, 1); };
    CHECK(fused(scene, "FusedMatMul", {"a", "b"}, {set("transA"), set("transB")}) ==
          "float32[2,3,5]");
    CHECK(fused(scene, "FusedMatMul", {"b", "a"}) == "float32[2,5,3]");
    CHECK(fused(scene, "FusedMatMul", {"a", "b"}, {set("transBatchA")}).empty());
}

TEST_CASE("fused_facts: nothing is said of others, nor of such names elsewhere", "[detail]") {
    const auto scene = test::inference_scene().input("x", {2, 3});
    CHECK(fused(scene, "Relu", {"x"}).empty());
    CHECK(fused(scene, "FusedGemm", {"x", "x"}, {}, {"y"}, "own").empty());
}

} // namespace test::detail_fused_facts
