// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/weight_matrix.hpp>

#include "../../catch.hpp"

#include <cstdint>
#include <vector>

namespace test::onnx_detail_weight_matrix {

using stemma::detail::is_weight_matrix;
using stemma::detail::is_weight_type;
using extents = std::vector<std::int64_t>;

TEST_CASE("is_weight_matrix: two extents above one, and a weight type") {
    CHECK(is_weight_matrix(1, extents{4, 8}));       // float32
    CHECK(is_weight_matrix(3, extents{8, 3, 3, 3})); // int8
    CHECK(is_weight_matrix(10, extents{2, 1, 2}));   // float16
    CHECK(is_weight_matrix(22, extents{64, 64}));    // int4
    CHECK(is_weight_matrix(1, extents{32, 1}));
}

TEST_CASE("is_weight_matrix: rejects scalars, vectors, shapes, indices and masks") {
    CHECK_FALSE(is_weight_matrix(1, extents{}));
    CHECK_FALSE(is_weight_matrix(1, extents{768}));
    CHECK_FALSE(is_weight_matrix(1, extents{1, 768, 1}));
    CHECK_FALSE(is_weight_matrix(7, extents{4, 8}));
    CHECK_FALSE(is_weight_matrix(6, extents{4, 8}));
    CHECK_FALSE(is_weight_matrix(9, extents{128, 128}));
    CHECK_FALSE(is_weight_matrix(8, extents{4, 8}));
}

TEST_CASE("is_weight_type: floating-point and small integer types") {
    for (const std::int64_t type : {1, 2, 3, 4, 5, 10, 11, 16, 17, 21, 22}) {
        CHECK(is_weight_type(type));
    }
    for (const std::int64_t type : {6, 7, 8, 9}) {
        CHECK_FALSE(is_weight_type(type));
    }
}

} // namespace test::onnx_detail_weight_matrix
