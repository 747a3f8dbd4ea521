// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/is_product.hpp>

#include "../../catch.hpp"

namespace test::evidence_detail_is_product {

TEST_CASE("is_product: convolutions and matrix products, fused ones too") {
    for (const char* type : {"Conv", "ConvTranspose", "FusedConv", "QLinearConv", "Gemm", "MatMul",
                             "FusedMatMul", "MatMulNBits"}) {
        CAPTURE(type);
        CHECK(stemma::detail::is_product(type));
    }
    for (const char* type : {"Mul", "Reshape", "InstanceNormalization", ""}) {
        CAPTURE(type);
        CHECK_FALSE(stemma::detail::is_product(type));
    }
}

} // namespace test::evidence_detail_is_product
