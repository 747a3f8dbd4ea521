// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/operator_kinds.hpp>

#include "../../catch.hpp"

#include <string>
#include <vector>

namespace test::evidence_detail_operator_kinds {

TEST_CASE("is_elementwise: activations and arithmetic are, what moves or reduces is not") {
    CHECK(stemma::detail::is_elementwise("Relu"));
    CHECK(stemma::detail::is_elementwise("QuickGelu"));
    CHECK(stemma::detail::is_elementwise("Mul"));
    for (const char* type : {"Pad", "Transpose", "ReduceMean", "Softmax", "MaxPool", ""}) {
        CHECK_FALSE(stemma::detail::is_elementwise(type));
    }
}

TEST_CASE("is_arithmetic: scaling and shifting, not what else treats elements alike") {
    CHECK(stemma::detail::is_arithmetic("Mul"));
    CHECK_FALSE(stemma::detail::is_arithmetic("Pow"));
    CHECK_FALSE(stemma::detail::is_arithmetic("Relu"));
}

TEST_CASE("may_activate: elementwise steps that do more than scale or shift") {
    const auto is_step = [](const std::vector<std::string>& types) {
        return stemma::detail::may_activate(types, [](const std::string& type) { return type; });
    };
    CHECK(is_step({"Relu"}));
    CHECK(is_step({"Sigmoid", "Mul"}));
    CHECK_FALSE(is_step({"Mul"}));
    CHECK_FALSE(is_step({"Sigmoid", "Softmax"}));
    CHECK(stemma::detail::are_elementwise(std::vector<std::string>{"Mul"},
                                          [](const std::string& type) { return type; }));
}

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

} // namespace test::evidence_detail_operator_kinds
