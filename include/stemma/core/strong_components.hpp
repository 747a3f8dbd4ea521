// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_STRONG_COMPONENTS_HPP
#define STEMMA_CORE_STRONG_COMPONENTS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace stemma {

/// Returns: by vertex index the number of its strong component: equal for two vertices when ways
/// lead from each to the other. A component has a lower number than those that lead to it.
///
/// Tarjan's algorithm without recursion; what Boost.Graph's does, at a fraction of what that costs
/// a compiler. Complexity: O(V + E).
template <operator_graph_like Graph>
[[nodiscard]] std::vector<id> find_strong_components(const Graph& graph) {
    using edges = decltype(out_edges(*vertices(graph).first, graph));
    struct frame {
        std::size_t v;
        edges left; ///< those that were not followed yet
    };
    const auto size = num_vertices(graph);
    std::vector<id> component(size, no_id);
    std::vector<id> found(size, no_id); // in the order of discovery
    std::vector<id> lowest(size, no_id);
    std::vector<std::size_t> open; // found, and without a component
    std::vector<frame> way;
    id next = 0;
    id components = 0;
    const auto enter = [&](vertex_t<Graph> vertex) {
        const auto v = index_of(graph, vertex);
        found[v] = lowest[v] = next++;
        open.push_back(v);
        way.push_back({v, out_edges(vertex, graph)});
    };
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        if (found[index_of(graph, *it)] == no_id) {
            enter(*it);
        }
        while (!way.empty()) {
            const auto v = way.back().v;
            auto& [edge, end] = way.back().left;
            if (edge != end) {
                const auto reader = target(*edge, graph);
                ++edge;
                const auto u = index_of(graph, reader);
                if (found[u] == no_id) {
                    enter(reader);
                } else if (component[u] == no_id) {
                    lowest[v] = std::min(lowest[v], found[u]);
                }
                continue;
            }
            way.pop_back();
            if (!way.empty()) {
                lowest[way.back().v] = std::min(lowest[way.back().v], lowest[v]);
            }
            if (lowest[v] == found[v]) {
                for (std::size_t u = size; u != v;) {
                    u = open.back();
                    open.pop_back();
                    component[u] = components;
                }
                ++components;
            }
        }
    }
    return component;
}

} // namespace stemma

#endif // STEMMA_CORE_STRONG_COMPONENTS_HPP
