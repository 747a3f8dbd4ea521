// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/change_finder.hpp>

#include "../../catch.hpp"

namespace test::compare_detail_change_finder {

TEST_CASE("is_quantizing: operators that produce, use or dequantize quantized numbers") {
    for (const auto* type :
         {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger",
          "QLinearConv", "QGemm", "MatMulNBits", "QAttention"}) {
        CHECK(stemma::detail::is_quantizing(type));
    }
    for (const auto* type : {"MatMul", "Conv", "Attention", "Cast", ""}) {
        CHECK(!stemma::detail::is_quantizing(type));
    }
}

TEST_CASE(
    "is_fused_type: types that runtimes make out of several, and those that they are made of") {
    for (const auto* type : {"FusedConv", "SkipLayerNormalization", "BiasGelu", "Attention"}) {
        CHECK(stemma::detail::is_fused_type(type));
    }
    for (const auto* type : {"Conv", "Softmax", "Add", "=", "|", ""}) {
        CHECK(!stemma::detail::is_fused_type(type));
    }
}

} // namespace test::compare_detail_change_finder
