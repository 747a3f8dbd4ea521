// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_TREE_ROWS_HPP
#define STEMMA_REPORT_TREE_ROWS_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// A line of a tree: a module, or consecutive siblings that are alike, represented by the first.
struct tree_row {
    id module = 0;       ///< the first of them
    id last = 0;         ///< the last of them
    id count = 1;        ///< their number
    bool is_last = true; ///< whether it is the last line of its parent
};

/// Options for listing a tree.
struct tree_listing {
    std::function<bool(id, id)> alike{}; ///< siblings that share a line; may be empty
    std::function<double(id)> largest{}; ///< sort key of siblings; may be empty
};

/// Lists the `shown` modules of a tree in preorder. Siblings that share a line are followed by the
/// contents of the first one; they share none if different parts of them are shown. Requires:
/// ancestors of shown modules are shown. Complexity: O(modules), a call of `alike` per sibling, and
/// n log n for sorting.
[[nodiscard]] inline std::vector<tree_row>
list_tree(const tree_index& tree, const std::vector<bool>& shown, const tree_listing& how = {}) {
    std::vector<tree_row> rows;
    std::vector<tree_row> open; // pending rows, the next one last
    const auto show_same = [&](id a, id b) {
        const auto at = [&](id m) { return shown.begin() + static_cast<std::ptrdiff_t>(m); };
        return std::equal(at(a), at(tree.end(a)), at(b), at(tree.end(b)));
    };
    const auto open_children = [&](id m) {
        std::vector<id> children;
        for (auto child = m + 1; child < tree.end(m); child = tree.end(child)) {
            if (shown[child]) {
                children.push_back(child);
            }
        }
        if (how.largest) {
            std::stable_sort(children.begin(), children.end(),
                             [&](id a, id b) { return how.largest(a) > how.largest(b); });
        }
        const auto first = static_cast<std::ptrdiff_t>(open.size());
        for (auto child : children) {
            const bool joins = how.alike && open.size() > static_cast<std::size_t>(first) &&
                               how.alike(open.back().module, child) &&
                               show_same(open.back().module, child);
            if (joins) {
                open.back().last = child;
                ++open.back().count;
            } else {
                open.push_back({child, child, 1, false});
            }
        }
        if (open.size() > static_cast<std::size_t>(first)) {
            open.back().is_last = true;
        }
        std::reverse(open.begin() + first, open.end());
    };
    if (tree.size() == 0 || !shown[0]) {
        return rows;
    }
    open.push_back({});
    while (!open.empty()) {
        rows.push_back(open.back());
        open.pop_back();
        open_children(rows.back().module);
    }
    return rows;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_TREE_ROWS_HPP
