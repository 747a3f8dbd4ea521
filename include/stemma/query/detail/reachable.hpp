// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_DETAIL_REACHABLE_HPP
#define STEMMA_QUERY_DETAIL_REACHABLE_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>

#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The direction of edges to follow.
enum class direction : bool { to_readers, to_producers };

/// How far.
enum class reach : bool { one_edge, any };

/// Returns: by vertex index, 1 for vertices reachable from the given ones, excluding these.
/// Complexity: O(V + E).
template <operator_graph_like Graph>
[[nodiscard]] std::vector<char8_t> reachable(const Graph& graph, std::span<const id> from,
                                             direction way, reach far) {
    const vertices_by_index<Graph> vertex(graph);
    std::vector<char8_t> met(num_vertices(graph), 0);
    std::vector<id> open(from.begin(), from.end());
    const auto meet = [&](const auto& v) {
        const auto i = static_cast<id>(index_of(graph, v));
        if (met[i] == 0) {
            met[i] = 1;
            if (far == reach::any) {
                open.push_back(i);
            }
        }
    };
    while (!open.empty()) {
        const auto v = vertex[open.back()];
        open.pop_back();
        if (way == direction::to_readers) {
            for (auto [it, last] = out_edges(v, graph); it != last; ++it) {
                meet(target(*it, graph));
            }
        } else {
            for (auto [it, last] = in_edges(v, graph); it != last; ++it) {
                meet(source(*it, graph));
            }
        }
    }
    for (auto v : from) {
        met[v] = 0;
    }
    return met;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_QUERY_DETAIL_REACHABLE_HPP
