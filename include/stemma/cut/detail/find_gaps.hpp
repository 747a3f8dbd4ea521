// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_FIND_GAPS_HPP
#define STEMMA_CUT_DETAIL_FIND_GAPS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/cut/detail/order_stretch.hpp>
#include <stemma/cut/detail/vertex_set.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the vertices on paths that leave a set and return, which make it convex, in the order
/// of the stretch.
///
/// `stretch` covers all members of the set. Complexity: O(vertices + edges) of the stretch.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<vertex_t<Graph>> find_gaps(const Graph& graph, const vertex_set& set,
                                                     const order_stretch<Graph>& stretch) {
    enum state : std::uint8_t { nothing, behind_members, member, gap };
    const auto all = stretch.vertices();
    std::vector<state> states(all.size(), nothing);
    const auto state_of = [&](vertex_t<Graph> v) {
        const auto place = stretch.place(index_of(graph, v));
        return place < all.size() ? states[place] : nothing;
    };
    for (std::size_t at = 0; at < all.size(); ++at) {
        const auto v = index_of(graph, all[at]);
        if (set.apart[v]) {
            continue;
        }
        if (set.inside[v]) {
            states[at] = member;
            continue;
        }
        for (auto [it, last] = in_edges(all[at], graph); it != last; ++it) {
            if (state_of(source(*it, graph)) != nothing) {
                states[at] = behind_members;
                break;
            }
        }
    }
    std::vector<vertex_t<Graph>> gaps;
    for (auto at = all.size(); at-- > 0;) {
        if (states[at] != behind_members) {
            continue;
        }
        for (auto [it, last] = out_edges(all[at], graph); it != last; ++it) {
            if (state_of(target(*it, graph)) >= member) {
                states[at] = gap;
                gaps.push_back(all[at]);
                break;
            }
        }
    }
    std::reverse(gaps.begin(), gaps.end());
    return gaps;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_FIND_GAPS_HPP
