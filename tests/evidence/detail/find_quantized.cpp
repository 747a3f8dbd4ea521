// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/find_quantized.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <vector>

namespace test::evidence_detail_find_quantized {

TEST_CASE("find_quantized: a conversion follows what computes its input") {
    test::operator_scene ops;
    const auto scale = ops.add({}, "", "Constant");
    const auto relu = ops.add({}, "", "Relu");
    const auto quantize = ops.add({scale, relu}, "", "QuantizeLinear");
    const auto first = ops.add({}, "", "DynamicQuantizeLinear");
    CHECK(stemma::detail::find_quantized(ops, quantize) == relu);
    CHECK_FALSE(stemma::detail::find_quantized(ops, first).has_value());
    CHECK_FALSE(stemma::detail::find_quantized(ops, relu).has_value());
}

TEST_CASE("find_quantized: a product of integers is scaled behind it") {
    test::operator_scene ops;
    const auto product = ops.add({}, "", "MatMulInteger");
    const auto cast = ops.add({product}, "", "Cast");
    const auto scaled = ops.add({cast}, "", "Mul");
    const auto again = ops.add({scaled}, "", "Mul");
    const auto other = ops.add({again}, "", "Cast");
    CHECK(stemma::detail::find_quantized(ops, cast) == product);
    CHECK(stemma::detail::find_quantized(ops, scaled) == cast);
    CHECK_FALSE(stemma::detail::find_quantized(ops, again).has_value());
    CHECK_FALSE(stemma::detail::find_quantized(ops, other).has_value());
}

TEST_CASE("find_quantized: the bias of a convolution of integers is added behind its scale") {
    const auto find = [](const char* type, const char* other) {
        test::operator_scene ops;
        const auto product = ops.add({}, "", type);
        const auto cast = ops.add({product}, "", "Cast");
        const auto scaled = ops.add({cast}, "", "Mul");
        const auto added = ops.add({}, "", other);
        const auto bias = ops.add({scaled, added}, "", "Add");
        return stemma::detail::find_quantized(ops, bias) == scaled;
    };
    CHECK(find("ConvInteger", "Constant"));
    CHECK_FALSE(find("ConvInteger", "Relu"));
    CHECK_FALSE(find("MatMulInteger", "Constant"));
}

TEST_CASE("is_inserted_by_quantizer: conversions of anything, and the product of two scales") {
    test::operator_scene ops;
    const auto weight = ops.add({}, "", "DequantizeLinear");
    const auto quantize = ops.add({}, "", "DynamicQuantizeLinear");
    const auto scale = ops.add({quantize}, "", "Mul");
    const auto product = ops.add({quantize}, "", "MatMulInteger");
    const auto cast = ops.add({product}, "", "Cast");
    const auto result = ops.add({cast, scale}, "", "Mul");
    const auto gate = ops.add({result}, "", "Mul");
    for (const auto v : {weight, quantize, scale, cast, result}) {
        CHECK(stemma::detail::is_inserted_by_quantizer(ops, v));
    }
    CHECK_FALSE(stemma::detail::is_inserted_by_quantizer(ops, product));
    CHECK_FALSE(stemma::detail::is_inserted_by_quantizer(ops, gate));
}

TEST_CASE("find_quantized_bias: the addition of a parameter behind a quantized product") {
    const auto find = [](const char* product, const std::vector<const char*>& behind, bool biased) {
        test::operator_scene ops;
        const auto first = ops.add({}, "", product);
        auto last = first;
        for (const char* type : behind) {
            last = ops.add({last}, "", type);
        }
        if (biased) {
            ops.read_parameter(last, "fc.bias");
        }
        return stemma::detail::find_quantized_bias(ops, first) == last;
    };
    CHECK(find("MatMulNBits", {"Add"}, true));
    CHECK(find("MatMulInteger", {"Cast", "Mul", "Add"}, true));
    CHECK_FALSE(find("MatMulNBits", {"Add"}, false)); // a sum of results
    CHECK_FALSE(find("MatMulNBits", {"Mul"}, true));
    CHECK_FALSE(find("MatMulNBits", {"Mul", "Add"}, true));
    CHECK_FALSE(find("MatMulInteger", {"Cast", "Mul", "Mul", "Add"}, true));
    CHECK_FALSE(find("MatMul", {"Add"}, true));
    test::operator_scene twice;
    const auto product = twice.add({}, "", "MatMulNBits");
    twice.read_parameter(twice.add({product}, "", "Add"), "fc.bias");
    twice.add({product}, "", "Relu");
    CHECK_FALSE(stemma::detail::find_quantized_bias(twice, product).has_value());
}

} // namespace test::evidence_detail_find_quantized
