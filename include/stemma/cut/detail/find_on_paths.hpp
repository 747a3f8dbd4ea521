// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_FIND_ON_PATHS_HPP
#define STEMMA_CUT_DETAIL_FIND_ON_PATHS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/detail/find_reentry.hpp>
#include <stemma/cut/detail/order_stretch.hpp>
#include <stemma/cut/detail/vertex_set.hpp>
#include <stemma/model/dependence.hpp>

#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Looks for paths that leave a set and return. Vertices apart which depend on members count as
/// members: what is pulled in beyond constants can be computed from results of the part, so a path
/// through its copy leads on, while constants depend on nothing.
///
/// Requires: `stretch` covers all members, and such vertices lead to members. Complexity: that of
/// `find(graph, set, stretch)`, which it returns, and if the policy pulls in more than constants,
/// O(vertices + edges) of the stretch.
template <operator_graph_like Graph, cut_policy Policy, class Find>
[[nodiscard]] auto find_on_paths(const Policy& policy, const Graph& graph, vertex_set& set,
                                 const order_stretch<Graph>& stretch, Find find) {
    std::vector<std::size_t> counted;
    if (policy.pulls(dependence::shape)) {
        const auto all = stretch.vertices();
        std::vector<bool> depends(all.size(), false);
        for (std::size_t at = 0; at < all.size(); ++at) {
            const auto v = index_of(graph, all[at]);
            depends[at] = set.is_inside(v);
            for (auto [it, last] = in_edges(all[at], graph); it != last && !depends[at]; ++it) {
                const auto from = stretch.place(index_of(graph, source(*it, graph)));
                depends[at] = from < at && depends[from];
            }
            if (depends[at] && set.apart[v] && !set.inside[v]) {
                counted.push_back(v);
            }
        }
    }
    const auto count = [&](bool as_members) {
        for (auto v : counted) {
            set.inside[v] = as_members;
            set.apart[v] = !as_members;
        }
    };
    count(true);
    auto path = find(graph, set, stretch);
    count(false);
    return path;
}

/// Returns: a path that leaves the set and returns as above, from the last member before; empty if
/// there is none. Requires, Complexity: as above.
template <operator_graph_like Graph, cut_policy Policy>
[[nodiscard]] auto find_way_back(const Policy& policy, const Graph& graph, vertex_set& set,
                                 const order_stretch<Graph>& stretch) {
    const auto members = set.inside;
    return find_on_paths(policy, graph, set, stretch, [&](const auto&... in) {
        auto path = find_reentry(in...);
        // A copy where it begins depends on a member within the set, or would end another path.
        for (bool grows = true; grows && !path.empty() && !members[index_of(graph, path[0])];) {
            grows = false;
            for (auto [it, last] = in_edges(path[0], graph); it != last && !grows; ++it) {
                const auto from = source(*it, graph);
                if (set.is_inside(index_of(graph, from))) {
                    path.insert(path.begin(), from);
                    grows = true;
                }
            }
        }
        return path;
    });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_FIND_ON_PATHS_HPP
