// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/fused_facts.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace test::types_detail_fused_facts {

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
}

TEST_CASE("fused_facts: a product whose batch is transposed has its first extent before the last",
          "[detail]") {
    const auto scene = test::inference_scene().input("a", {6, 2, 4, 3}).input("b", {2, 4, 3, 5});
    const auto set = [](const char* name) { return test::int_attribute(name, 1); };
    CHECK(fused(scene, "FusedMatMul", {"a", "b"}, {set("transBatchA")}) == "float32[2,4,6,5]");
    const auto turned = test::inference_scene().input("a", {6, 2, 4, 3}).input("b", {5, 2, 4, 6});
    CHECK(fused(turned, "FusedMatMul", {"a", "b"}, {set("transBatchA"), set("transA")}) ==
          "float32[2,4,3,6]");
    CHECK(fused(turned, "FusedMatMul", {"b", "a"},
                {set("transBatchA"), set("transBatchB"), set("transA")}) == "float32[2,4,6,3]");
}

TEST_CASE("fused_facts: products of quantized weights are of the type of what is not quantized",
          "[detail]") {
    const std::uint64_t bytes = 2;
    const auto scene = test::inference_scene()
                           .input("a", {2, 4, 3})
                           .input("q", {4, 3}, bytes)
                           .weight("scale", {1})
                           .weight("w", {3, 5});
    CHECK(fused(scene, "DynamicQuantizeMatMul", {"a", "w"}) == "float32[2,4,5]");
    CHECK(fused(scene, "MatMulIntegerToFloat", {"q", "w", "scale", "scale"}) == "float32[4,5]");
    for (const char* op : {"MatMulNBits", "MatMulBnb4"}) {
        CHECK(fused(scene, op, {"a", "w"}, {test::int_attribute("N", 7)}) == "float32[2,4,7]");
    }
    CHECK(fused(scene, "QLinearAdd", {"q", "scale", "q", "q"}) == "uint8[4,3]");
    CHECK(fused(scene, "QLinearSigmoid", {"q", "scale"}) == "uint8[4,3]");
}

TEST_CASE("fused_facts: attention has a row for each one of the query", "[detail]") {
    const auto scene = test::inference_scene()
                           .input("x", {2, 4, 6})
                           .input("packed", {2, 4, 3, 3, 8})
                           .weight("w", {6, 18});
    CHECK(fused(scene, "Attention", {"x", "w"}) == "float32[2,4,?]");
    CHECK(fused(scene, "Attention", {"x", "w"}, {}, {"y", "kept"}) == "float32[2,2,?,?,?]");
    CHECK(fused(scene, "MultiHeadAttention", {"packed"}) == "float32[2,4,?]");
    CHECK(fused(scene, "GroupQueryAttention", {"x"}, {}, {"y", "keys", "values"}) ==
          "float32[2,?,?,?]");
    CHECK(fused(scene, "RotaryEmbedding", {"x"}) == "float32[2,4,6]");
}

TEST_CASE("fused_facts: embeddings are rows of the table of words", "[detail]") {
    const std::uint64_t numbers = 6;
    const auto scene =
        test::inference_scene().input("ids", {2, 4}, numbers).weight("words", {30, 6});
    CHECK(fused(scene, "EmbedLayerNormalization", {"ids", "ids", "words"}) == "float32[2,4,6]");
    CHECK(fused(scene, "EmbedLayerNormalization", {"ids", "ids", "words"}, {}, {"y", "last"}) ==
          "int32[2]");
}

TEST_CASE("fused_facts: nothing is said of others, nor of such names elsewhere", "[detail]") {
    const auto scene = test::inference_scene().input("x", {2, 3});
    CHECK(fused(scene, "Relu", {"x"}).empty());
    CHECK(fused(scene, "FusedGemm", {"x", "x"}, {}, {"y"}, "own").empty());
}

} // namespace test::types_detail_fused_facts
