// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/derived_names.hpp>

#include "../../catch.hpp"

namespace test::weights_detail_derived_names {

TEST_CASE(
    "derived_names: values and a scale or zero point together say that a weight is quantized") {
    stemma::detail::derived_names names;
    for (const auto* name :
         {"a.weight_quantized", "a.weight_scale", "a.weight_zero_point", "b.weight_Q4",
          "b.weight_scales", "c.weight_quantized", "d.weight", "d.weight_scale", "e.weight_fp16"}) {
        names.add(name);
    }
    CHECK(names.is_quantized("a.weight"));
    CHECK(names.is_quantized("b.weight"));
    for (const auto* other : {"a", "a.weight_quantized", "c.weight", "d.weight", "e.weight", ""}) {
        CHECK_FALSE(names.is_quantized(other));
    }
}

TEST_CASE("is_named_after_result: what changes values, but not what moves or converts them") {
    for (const auto* name :
         {"onnx::Mul_46", "/a/Exp_output_0", "/a/b.0/Add_1_output_0", "/Neg_output_0"}) {
        CHECK(stemma::detail::is_named_after_result(name));
    }
    for (const auto* name : {"a.weight", "_output_0", "Exp_output_0", "/a/Cast_output_0",
                             "/a/Transpose_2_output_0", "/Constant_output_0", "/a/w", ""}) {
        CHECK_FALSE(stemma::detail::is_named_after_result(name));
    }
}

TEST_CASE("type_in_result: the operator, without numbers and what tools add") {
    CHECK(stemma::detail::type_in_result("/a/b.0/Constant_1_output_0") == "Constant");
    CHECK(stemma::detail::type_in_result("Cast_/a/Exp_output_0_quantized") == "Exp");
    for (const auto* name : {"Exp_output_0", "/a/Exp", "a.weight", ""}) {
        CHECK(stemma::detail::type_in_result(name).empty());
    }
}

} // namespace test::weights_detail_derived_names
