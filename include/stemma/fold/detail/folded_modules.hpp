// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLDED_MODULES_HPP
#define STEMMA_FOLD_DETAIL_FOLDED_MODULES_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The modules of a tree that fold, and their nesting. The root never folds, nor do modules nested
/// in `max_depth` folded ones.
class folded_modules {
public:
    /// Bounds the work for chains, and the nesting of functions.
    static constexpr id max_depth = 64;

    /// `folds(m)` says whether a module should fold. Requires: the tree outlives it.
    /// Complexity: O(modules).
    template <class Folds>
    folded_modules(const tree_index& tree, Folds folds)
        : tree_(&tree), folded_(tree.size(), false), above_(tree.size(), no_id) {
        std::vector<id> depth(tree.size(), 0);
        for (id m = 1; m < tree.size(); ++m) {
            const auto parent = tree.parent(m);
            above_[m] = folded_[parent] ? parent : above_[parent];
            depth[m] = depth[parent];
            if (depth[m] < max_depth && folds(m)) {
                ++depth[m];
                folded_[m] = true;
            }
        }
    }

    /// Whether a module folds.
    [[nodiscard]] bool folds(id m) const { return folded_[m]; }

    /// Returns: the innermost folded module among a module and its ancestors, or `no_id`.
    [[nodiscard]] id innermost(id m) const { return folded_[m] ? m : above_[m]; }

    /// Returns: the outermost of these below `top`, or `no_id`. Requires: `top` folds or is the
    /// root. Complexity: O(`max_depth`).
    [[nodiscard]] id next_below(id top, id m) const {
        if (!tree_->is_ancestor(top, m)) {
            return no_id;
        }
        id outermost = no_id;
        for (auto around = innermost(m); around != no_id && around != top;
             around = above_[around]) {
            outermost = around;
        }
        return outermost;
    }

private:
    const tree_index* tree_;
    std::vector<bool> folded_;
    std::vector<id> above_; // by module: its nearest folded ancestor
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLDED_MODULES_HPP
