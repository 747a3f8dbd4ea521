// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_FIND_REORDERED_HPP
#define STEMMA_COMPARE_DETAIL_FIND_REORDERED_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The execution rank of a module in two models.
struct module_run {
    id before = 0; ///< rank in the first model
    id after = 0;  ///< rank in the second model
    id module = 0; ///< the module
};

/// Returns: a minimal set of modules that explains the new order; both of two swapped neighbours.
/// In the order of the first model.
/// Complexity: O(modules log modules).
[[nodiscard]] inline std::vector<id> find_reordered(std::vector<module_run> runs) {
    range::sort(runs, [](const module_run& x, const module_run& y) { return x.before < y.before; });
    // The longest increasing subsequence stays.
    std::vector<id> ends;                         // by length: the end of the best one
    std::vector<id> previous(runs.size(), no_id); // in the sequence
    for (id i = 0; i < runs.size(); ++i) {
        const auto at = std::lower_bound(ends.begin(), ends.end(), i,
                                         [&](id x, id y) { return runs[x].after < runs[y].after; });
        previous[i] = at == ends.begin() ? no_id : *(at - 1);
        at == ends.end() ? ends.push_back(i) : static_cast<void>(*at = i);
    }
    std::vector<bool> stays(runs.size(), false);
    for (auto i = ends.empty() ? no_id : ends.back(); i != no_id; i = previous[i]) {
        stays[i] = true;
    }
    std::vector<id> ranks; // in the second model
    for (const auto& each : runs) {
        ranks.push_back(each.after);
    }
    range::sort(ranks);
    // Of two swapped modules, either may have moved.
    std::vector<bool> moves(runs.size(), false);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (stays[i]) {
            continue;
        }
        moves[i] = true;
        const bool alone = (i == 0 || stays[i - 1]) && (i + 1 == runs.size() || stays[i + 1]);
        for (const auto other : {i - 1, i + 1}) {
            if (!alone || other >= runs.size() ||
                (runs[other].after < runs[i].after) == (other < i)) {
                continue;
            }
            // Nothing runs between them, in either model.
            const auto low = std::min(runs[i].after, runs[other].after);
            const auto high = std::max(runs[i].after, runs[other].after);
            moves[other] = moves[other] || std::upper_bound(ranks.begin(), ranks.end(), low) >=
                                               std::lower_bound(ranks.begin(), ranks.end(), high);
        }
    }
    std::vector<id> moved;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (moves[i]) {
            moved.push_back(runs[i].module);
        }
    }
    return moved;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_FIND_REORDERED_HPP
