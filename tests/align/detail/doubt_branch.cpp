// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/doubt_branch.hpp>

#include "../../catch.hpp"

#include <stemma/align/alignment.hpp>
#include <stemma/align/detail/aligned_nodes.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <vector>

namespace test::align_detail_doubt_branch {

using stemma::id;
using stemma::no_id;

TEST_CASE("doubt_branch: a branch that did not run is somewhere among the modules of the other",
          "[alignment]") {
    const stemma::tree_index modules(std::vector<id>{no_id, 0, 1, 1});
    stemma::detail::aligned_nodes nodes;
    nodes.vertex = {0, 1, 2, 3};
    nodes.owns = {false, false, false, true};
    stemma::alignment aligned;
    aligned.of.resize(4);
    for (auto& entry : aligned.of) {
        entry.confidence = 1;
    }
    aligned.of[0].module = 2;
    aligned.of[1].module = 3;
    stemma::detail::doubt_branch(nodes, modules, std::vector<id>{2, 3}, std::vector<id>{0, 1},
                                 aligned);
    CHECK(aligned.of[2].module == 1);
    CHECK_FALSE(aligned.of[2].exact);
    CHECK(aligned.of[2].confidence < 0.9F);
    CHECK(aligned.of[3].module == no_id); // decided by its bodies
}

} // namespace test::align_detail_doubt_branch
