// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/inserted_conversions.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <cstddef>
#include <vector>

namespace test::evidence_detail_inserted_conversions {

TEST_CASE("find_conversions: finds what a runtime inserted, unless its name has a scope") {
    test::operator_scene scene;
    scene.add({}, "/conv/Conv", "Conv");
    const auto reordered = scene.add({0}, "ReorderOutput_token_3", "ReorderOutput");
    const auto reshaped = scene.add({reordered}, "gemm_output_reshape_token_1", "Reshape");
    scene.add({reshaped}, "/fc/gemm_output_reshape/Reshape", "Reshape");
    scene.add({reshaped}, "reshape", "Reshape");
    const auto transposed = scene.add({0}, "Transpose_token_7", "Transpose");
    scene.add({transposed}, "Transpose_7", "Transpose");
    const auto table = stemma::detail::collect_scopes(scene);
    std::vector<std::size_t> conversions;
    for (const auto v : stemma::detail::find_conversions(scene, table)) {
        conversions.push_back(v);
    }
    CHECK(conversions == std::vector<std::size_t>{reordered, reshaped, transposed});
}

} // namespace test::evidence_detail_inserted_conversions
