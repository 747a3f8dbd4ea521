// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_CONVEX_RUNS_HPP
#define STEMMA_CUT_DETAIL_CONVEX_RUNS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/detail/order_stretch.hpp>
#include <stemma/cut/detail/vertex_set.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Divides a set into convex runs: a vertex is in run r if paths to it leave the set at most r
/// times.
///
/// `stretch` covers all members of the set.
/// Returns: the run by position in the stretch, `no_id` for vertices outside the set.
/// Complexity: O(vertices + edges) of the stretch.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<id> convex_runs(const Graph& graph, const vertex_set& set,
                                          const order_stretch<Graph>& stretch) {
    const auto all = stretch.vertices();
    std::vector<id> run(all.size(), 0); // doubled for now, plus one inside
    for (std::size_t at = 0; at < all.size(); ++at) {
        const auto v = index_of(graph, all[at]);
        if (set.apart[v]) {
            continue;
        }
        const id inside = set.inside[v] ? 1 : 0;
        id least = 0; // outside: the first run that it may feed
        for (auto [it, last] = in_edges(all[at], graph); it != last; ++it) {
            const auto from = stretch.place(index_of(graph, source(*it, graph)));
            if (from < at) {
                least = std::max(least, (run[from] + 1 - inside) / 2);
            }
        }
        run[at] = 2 * least + inside;
    }
    for (auto& r : run) {
        r = r % 2 == 0 ? no_id : r / 2;
    }
    return run;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_CONVEX_RUNS_HPP
