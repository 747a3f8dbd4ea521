// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/mark_matrices.hpp>

#include "../../alignment_scene.hpp"
#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <vector>

namespace test::model_detail_mark_matrices {

TEST_CASE("mark_matrices: marks what must be a weight, if the view can tell") {
    test::exported_graph graph;
    graph.parameter("weight", {4, 8});
    graph.parameter("bias", {4});
    CHECK(stemma::detail::mark_matrices(graph) == std::vector<bool>{true, false});
    CHECK(stemma::detail::mark_matrices(test::operator_scene{}).empty());
}

} // namespace test::model_detail_mark_matrices
