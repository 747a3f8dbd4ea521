// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_DETAIL_BOX_LEVELS_HPP
#define STEMMA_REPORT_DETAIL_BOX_LEVELS_HPP

#include <stemma/core/detail/strong_components.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The levels of boxes: the longest path to each, counting boxes with weight.
struct box_levels {
    std::vector<id> level;     ///< by box; equal within a cycle
    std::vector<id> component; ///< by box: equal within a cycle
    std::vector<id> members;   ///< by component
};

/// `edges` have the numbers `from` and `to` of boxes, and are by `from`; `weighs` is by box.
/// Complexity: O(boxes log boxes + edges).
template <class Edge>
[[nodiscard]] box_levels find_levels(std::size_t boxes, const std::vector<Edge>& edges,
                                     const std::vector<bool>& weighs) {
    std::vector<std::size_t> first(boxes + 1, 0);
    for (const auto& edge : edges) {
        ++first[std::size_t{edge.from} + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    box_levels levels;
    levels.component = strong_components<id>(
        boxes,
        [&](auto f) {
            for (id b = 0; b < boxes; ++b) {
                f(b);
            }
        },
        [](id b) { return b; },
        [&](id b) {
            return std::pair(edges.data() + first[b], edges.data() + first[std::size_t{b} + 1]);
        },
        [](const Edge& edge) { return edge.to; });
    levels.members.assign(boxes, 0);
    std::vector<bool> steps(boxes, false); // by component
    for (std::size_t b = 0; b < boxes; ++b) {
        ++levels.members[levels.component[b]];
        steps[levels.component[b]] = steps[levels.component[b]] || weighs[b];
    }
    std::vector<id> order(boxes);
    std::iota(order.begin(), order.end(), id{0});
    std::sort(order.begin(), order.end(), [&](id a, id b) {
        return levels.component[a] != levels.component[b]
                   ? levels.component[a] > levels.component[b]
                   : a < b;
    });
    std::vector<id> level(boxes, 0); // by component
    for (const auto b : order) {
        const auto from = levels.component[b];
        for (auto e = first[b]; e < first[std::size_t{b} + 1]; ++e) {
            const auto to = levels.component[edges[e].to];
            if (to != from) {
                level[to] = std::max(level[to], level[from] + (steps[from] ? 1U : 0U));
            }
        }
    }
    for (std::size_t b = 0; b < boxes; ++b) {
        levels.level.push_back(level[levels.component[b]]);
    }
    return levels;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_REPORT_DETAIL_BOX_LEVELS_HPP
