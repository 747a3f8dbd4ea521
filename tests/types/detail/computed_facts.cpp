// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/computed_facts.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test::types_detail_computed_facts {

TEST_CASE("computed_facts: products", "[detail][computed_facts]") {
    const auto scene = test::inference_scene()
                           .input("x", {2, 3, 4})
                           .input("v", {4})
                           .input("m", {6, 7})
                           .weight("w", {4, 5});
    CHECK(test::inferred(scene, "MatMul", {"x", "w"}) == "float32[2,3,5]");
    CHECK(test::inferred(scene, "MatMul", {"x", "v"}) == "float32[2,3]");
    CHECK(test::inferred(scene, "MatMul", {"v", "w"}) == "float32[5]");
    CHECK(test::inferred(scene, "Gemm", {"m", "w"},
                         {test::int_attribute("transA", 1), test::int_attribute("transB", 1)}) ==
          "float32[7,4]");
}

TEST_CASE("computed_facts: windows", "[detail][computed_facts]") {
    const auto scene = test::inference_scene().input("x", {1, 3, 8, 9}).weight("w", {6, 3, 3, 3});
    CHECK(test::inferred(scene, "Conv", {"x", "w"}) == "float32[1,6,6,7]");
    CHECK(test::inferred(scene, "Conv", {"x", "w"},
                         {test::ints_attribute("pads", {1, 1, 1, 1}),
                          test::ints_attribute("strides", {2, 2})}) == "float32[1,6,4,5]");
    CHECK(test::inferred(scene, "MaxPool", {"x"},
                         {test::ints_attribute("kernel_shape", {2, 2}),
                          test::ints_attribute("strides", {2, 2})}) == "float32[1,3,4,4]");
    CHECK(test::inferred(scene, "GlobalAveragePool", {"x"}) == "float32[1,3,1,1]");
}

TEST_CASE("computed_facts: reductions", "[detail][computed_facts]") {
    const auto scene = test::inference_scene().input("x", {2, 3, 4});
    CHECK(test::inferred(scene, "ReduceMean", {"x"}, {test::ints_attribute("axes", {1})}) ==
          "float32[2,1,4]");
    CHECK(test::inferred(scene, "ReduceMean", {"x"},
                         {test::ints_attribute("axes", {1}), test::int_attribute("keepdims", 0)}) ==
          "float32[2,4]");
    CHECK(test::inferred(scene, "ArgMax", {"x"},
                         {test::int_attribute("axis", 2), test::int_attribute("keepdims", 0)}) ==
          "int64[2,3]");
}

TEST_CASE("computed_facts: normalization keeps the shape", "[detail][computed_facts]") {
    const auto scene = test::inference_scene().input("x", {2, 3, 4}).weight("s", {4});
    CHECK(test::inferred(scene, "LayerNormalization", {"x", "s", "s"}) == "float32[2,3,4]");
}

TEST_CASE("computed_facts: sums over letters", "[detail][computed_facts]") {
    const auto scene =
        test::inference_scene().input("x", {2, 3, 4}).input("w", {5, 4}).input("z", {2});
    const auto einsum = [&](const char* equation, const std::vector<std::string>& inputs) {
        return test::inferred(scene, "Einsum", inputs,
                              {test::text_attribute("equation", equation)});
    };
    CHECK(einsum("bij,kj->bik", {"x", "w"}) == "float32[2,3,5]");
    CHECK(einsum(" i, j -> i j ", {"z", "z"}) == "float32[2,2]");
    CHECK(einsum("bij,kj", {"x", "w"}) == "float32[2,3,5]");
    CHECK(einsum("bij->", {"x"}) == "float32[]");
    CHECK(einsum("b,c,d,e->bcde", {"z"}) == "float32[2,?,?,?]");
    CHECK(einsum("...ij->...ji", {"x"}).empty());
    CHECK(einsum("bijk->k", {"x"}) == "float32[?]");
    CHECK(einsum(std::string(100, 'i').append("->").append(100, 'i').c_str(), {"x"}).empty());
}

TEST_CASE("computed_facts: a letter of several extents is no less than any of them",
          "[detail][computed_facts]") {
    constexpr auto unknown = ~std::uint64_t{0};
    const auto scene =
        test::inference_scene().input("one", {1, 3}).input("two", {2, 3}).input("u", {unknown, 3});
    const auto einsum = [&](const std::vector<std::string>& inputs) {
        return test::inferred(scene, "Einsum", inputs,
                              {test::text_attribute("equation", "bi,bi->bi")});
    };
    for (const auto& [other, expected] :
         {std::pair("one", "float32[?,3]"), std::pair("two", "float32[2,3]")}) {
        CHECK(einsum({"u", other}) == expected);
        CHECK(einsum({other, "u"}) == expected);
    }
    CHECK(einsum({"one", "two"}) == "float32[2,3]");
    CHECK(einsum({"one", "one"}) == "float32[1,3]");
}

TEST_CASE("computed_facts: samples and boxes", "[detail][computed_facts]") {
    const auto scene = test::inference_scene().input("x", {1, 3, 8, 9}).input("g", {1, 5, 6, 2});
    CHECK(test::inferred(scene, "GridSample", {"x", "g"}, {}, 16) == "float32[1,3,5,6]");
    CHECK(test::inferred(scene, "NonMaxSuppression", {"x", "x"}) == "int64[?,3]");
}

} // namespace test::types_detail_computed_facts
