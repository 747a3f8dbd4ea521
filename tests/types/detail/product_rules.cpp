// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/product_rules.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test::types_detail_product_rules {

namespace {

std::string fused(const test::inference_scene& scene, const char* op, const test::names& inputs,
                  const std::vector<test::message>& attributes = {},
                  const test::names& outputs = {"y"}, const char* domain = "com.microsoft") {
    return test::inferred_in(domain, scene, op, inputs, attributes, outputs);
}

} // namespace

TEST_CASE("product_rules: sums over letters", "[detail]") {
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
    CHECK(einsum("...ij->...ji", {"x"}) == "float32[2,4,3]");
    CHECK(einsum("...j,...k", {"x", "z"}) == "float32[2,3,4,2]");
    CHECK(einsum("ij...->...i", {"x"}) == "float32[4,2]");
    CHECK(einsum("b,c,d,e->bcde", {"z"}).empty());
    CHECK(einsum("bijk->k", {"x"}).empty());
    CHECK(einsum(std::string(100, 'i').append("->").append(100, 'i').c_str(), {"x"}).empty());
}

TEST_CASE("product_rules: a letter has at least the extent of every operand", "[detail]") {
    constexpr auto unknown = ~std::uint64_t{0};
    const auto scene =
        test::inference_scene().input("one", {1, 3}).input("two", {2, 3}).input("u", {unknown, 3});
    const auto einsum = [&](const std::vector<std::string>& inputs) {
        return test::inferred(scene, "Einsum", inputs, test::attributes("equation='bi,bi->bi'"));
    };
    for (const auto& [other, expected] :
         {std::pair("one", "float32[?,3]"), std::pair("two", "float32[2,3]")}) {
        CHECK(einsum({"u", other}) == expected);
        CHECK(einsum({other, "u"}) == expected);
    }
    CHECK(einsum({"one", "two"}) == "float32[2,3]");
    CHECK(einsum({"one", "one"}) == "float32[1,3]");
}

TEST_CASE("product_rules: a product of matrices that are transposed", "[detail]") {
    const auto scene = test::inference_scene().input("a", {2, 4, 3}).input("b", {2, 5, 4});
    const auto set = [](const char* name) { return test::int_attribute(name, 1); };
    CHECK(fused(scene, "FusedMatMul", {"a", "b"}, {set("transA"), set("transB")}) ==
          "float32[2,3,5]");
    CHECK(fused(scene, "FusedMatMul", {"b", "a"}) == "float32[2,5,3]");
}

TEST_CASE("product_rules: a product whose batch is transposed has its first extent before the last",
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

} // namespace test::types_detail_product_rules
