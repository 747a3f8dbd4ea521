// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/weight_kind.hpp>

#include "../catch.hpp"

namespace test::onnx_weight_kind {

TEST_CASE("weight_kind: to_string names every kind") {
    STATIC_REQUIRE(to_string(stemma::weight_kind::parameter) == "parameter");
    STATIC_REQUIRE(to_string(stemma::weight_kind::buffer) == "buffer");
    STATIC_REQUIRE(to_string(stemma::weight_kind::scale) == "scale");
    STATIC_REQUIRE(to_string(stemma::weight_kind::zero_point) == "zero_point");
}

} // namespace test::onnx_weight_kind
