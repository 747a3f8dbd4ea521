// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/layout_types.hpp>

#include "../../catch.hpp"

namespace test::evidence_detail_layout_types {

TEST_CASE("is_layout: what only rearranges its input") {
    CHECK(stemma::detail::is_layout("Transpose"));
    CHECK(stemma::detail::is_layout("Flatten"));
    for (const char* type : {"Slice", "Concat", "Pad", "Relu", ""}) {
        CHECK_FALSE(stemma::detail::is_layout(type));
    }
}

TEST_CASE("is_conversion: what a runtime inserts between its layouts") {
    CHECK(stemma::detail::is_conversion("ReorderInput"));
    CHECK(stemma::detail::is_conversion("ReorderOutput"));
    CHECK_FALSE(stemma::detail::is_conversion("Transpose"));
}

TEST_CASE("is_quantization: what quantizers insert") {
    for (const char* type : {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}) {
        CHECK(stemma::detail::is_quantization(type));
    }
    CHECK_FALSE(stemma::detail::is_quantization("QLinearConv"));
}

TEST_CASE("is_integer_product: products whose results a Cast turns into numbers") {
    for (const char* type : {"MatMulInteger", "ConvInteger"}) {
        CHECK(stemma::detail::is_integer_product(type));
    }
    for (const char* type : {"MatMul", "MatMulIntegerToFloat", "QLinearConv"}) {
        CHECK_FALSE(stemma::detail::is_integer_product(type));
    }
}

TEST_CASE("is_packed_product: products by a matrix of a few bits") {
    for (const char* type : {"MatMulNBits", "MatMulBnb4", "MatMulFpQ4"}) {
        CHECK(stemma::detail::is_packed_product(type));
    }
    CHECK_FALSE(stemma::detail::is_packed_product("MatMulInteger"));
}

} // namespace test::evidence_detail_layout_types
