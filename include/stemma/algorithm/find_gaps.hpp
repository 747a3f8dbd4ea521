// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALGORITHM_FIND_GAPS_HPP
#define STEMMA_ALGORITHM_FIND_GAPS_HPP

#include <stemma/algorithm/boundary.hpp>
#include <stemma/core/concepts.hpp>

#include <cstddef>
#include <vector>

namespace stemma {

/// Returns: what lies on ways that leave a set and come back: with these vertices it is convex. In
/// the order of the stretch.
///
/// `stretch` covers all members of the set. Complexity: O(vertices + edges) of the stretch.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<vertex_t<Graph>> find_gaps(const Graph& graph, const vertex_set& set,
                                                     const order_stretch<Graph>& stretch) {
    const auto all = stretch.vertices();
    std::vector<bool> behind(all.size(), false); // some member
    std::vector<bool> before(all.size(), false);
    const auto counts = [&](std::size_t v, const std::vector<bool>& reached) {
        const auto place = stretch.place(v);
        return place < all.size() && !set.apart[v] && (set.inside[v] || reached[place]);
    };
    for (std::size_t at = 0; at < all.size(); ++at) {
        for (auto [it, last] = in_edges(all[at], graph); it != last; ++it) {
            behind[at] = behind[at] || counts(index_of(graph, source(*it, graph)), behind);
        }
    }
    std::vector<vertex_t<Graph>> gaps;
    for (auto at = all.size(); at-- > 0;) {
        for (auto [it, last] = out_edges(all[at], graph); it != last; ++it) {
            before[at] = before[at] || counts(index_of(graph, target(*it, graph)), before);
        }
    }
    for (std::size_t at = 0; at < all.size(); ++at) {
        if (behind[at] && before[at] && set.is_outside(index_of(graph, all[at]))) {
            gaps.push_back(all[at]);
        }
    }
    return gaps;
}

} // namespace stemma

#endif // STEMMA_ALGORITHM_FIND_GAPS_HPP
