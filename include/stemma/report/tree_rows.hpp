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

/// A line of a tree: a module, or siblings one after the other that are alike, of which the first
/// stands for all.
struct tree_row {
    id module = 0;       ///< the first of them
    id last = 0;         ///< the last of them
    id count = 1;        ///< how many they are
    bool is_last = true; ///< whether no line of the same parent follows
};

/// How a tree is listed.
struct tree_listing {
    std::function<bool(id, id)> alike{}; ///< siblings that share a line; none where it is empty
    std::function<double(id)> largest{}; ///< siblings are sorted by it, if there is one
};

/// Lists the modules of a tree that are `shown`, by module, each before what is below it. Below
/// siblings that share a line stands what is in the first one.
/// Requires: what is above a module that is shown is shown, too.
/// Complexity: O(modules), a question of `alike` for each sibling, and n log n to sort them.
[[nodiscard]] inline std::vector<tree_row>
list_tree(const tree_index& tree, const std::vector<bool>& shown, const tree_listing& how = {}) {
    std::vector<tree_row> rows;
    std::vector<tree_row> open; // those to come, the next one at the end
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
                               how.alike(open.back().module, child);
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
