// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_STRONG_COMPONENTS_HPP
#define STEMMA_CORE_DETAIL_STRONG_COMPONENTS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Tarjan's algorithm without recursion. `boost::strong_components` takes up to 1.4 times as long
/// (bench/core/detail/strong_components_bench.cpp) and twice as long to compile.
///
/// `for_each_vertex(f)` calls `f(v)` for all of `size` vertices, `index(v)` numbers them, and
/// `edges(v)` returns iterators over the edges out of `v`, each to `target(*iterator)`.
template <class Vertex, class ForEachVertex, class Index, class Edges, class Target>
[[nodiscard]] std::vector<id> strong_components(std::size_t size, ForEachVertex for_each_vertex,
                                                Index index, Edges edges, Target target) {
    struct frame {
        std::size_t v;
        decltype(edges(std::declval<Vertex>())) unvisited; // edges not followed yet
    };
    std::vector<id> component(size, no_id);
    std::vector<id> result(size, no_id); // in the order of discovery
    std::vector<id> lowest(size, no_id);
    std::vector<std::size_t> open; // result, and without a component
    std::vector<frame> way;
    id next = 0;
    id components = 0;
    const auto enter = [&](const Vertex& vertex) {
        const std::size_t v = index(vertex);
        result[v] = lowest[v] = next++;
        open.push_back(v);
        way.push_back({v, edges(vertex)});
    };
    for_each_vertex([&](const Vertex& root) {
        if (result[index(root)] == no_id) {
            enter(root);
        }
        while (!way.empty()) {
            const auto v = way.back().v;
            auto& [edge, end] = way.back().unvisited;
            if (edge != end) {
                const Vertex reader = target(*edge);
                ++edge;
                const std::size_t u = index(reader);
                if (result[u] == no_id) {
                    enter(reader);
                } else if (component[u] == no_id) {
                    lowest[v] = std::min(lowest[v], result[u]);
                }
                continue;
            }
            way.pop_back();
            if (!way.empty()) {
                lowest[way.back().v] = std::min(lowest[way.back().v], lowest[v]);
            }
            if (lowest[v] == result[v]) {
                for (std::size_t u = size; u != v;) {
                    u = open.back();
                    open.pop_back();
                    component[u] = components;
                }
                ++components;
            }
        }
    });
    return component;
}

/// Returns: the strong component number of each vertex, by vertex index: equal for two vertices iff
/// each is reachable from the other. A component has a lower number than those that lead to it.
///
/// Complexity: O(V + E).
template <operator_graph_like Graph>
[[nodiscard]] std::vector<id> find_strong_components(const Graph& graph) {
    return detail::strong_components<vertex_t<Graph>>(
        num_vertices(graph),
        [&](auto f) {
            for (auto [it, last] = vertices(graph); it != last; ++it) {
                f(*it);
            }
        },
        [&](const auto& v) { return index_of(graph, v); },
        [&](const auto& v) { return out_edges(v, graph); },
        [&](const auto& e) { return target(e, graph); });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_STRONG_COMPONENTS_HPP
