// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_DOUBT_BRANCH_HPP
#define STEMMA_ALIGN_DETAIL_DOUBT_BRANCH_HPP

#include <stemma/align/alignment.hpp>
#include <stemma/align/detail/aligned_nodes.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/confidence.hpp>

#include <algorithm>
#include <span>

namespace stemma::inline STEMMA_ABI::detail {

/// The modules of a branch that did not run are known from the one that did: it is somewhere among
/// those. Complexity: O(operators of both).
inline void doubt_branch(const aligned_nodes& nodes, const tree_index& modules,
                         std::span<const id> branch, std::span<const id> ran, alignment& result) {
    auto common = no_id;
    bool several = false;
    for (auto n : ran) {
        const auto module = result.of[nodes.vertex[n]].module;
        if (module != no_id) {
            several = several || (common != no_id && common != module);
            common = common == no_id ? module : modules.lca(common, module);
        }
    }
    for (auto n : branch) {
        auto& entry = result.of[nodes.vertex[n]];
        if (common != no_id && !nodes.owns[n]) {
            entry.module = common;
            entry.call = no_id;
            entry.exact = entry.exact && !several;
            entry.confidence = std::min(entry.confidence, confidence::aligned_branch);
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_DOUBT_BRANCH_HPP
