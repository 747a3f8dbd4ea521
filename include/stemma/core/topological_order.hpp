// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_TOPOLOGICAL_ORDER_HPP
#define STEMMA_CORE_TOPOLOGICAL_ORDER_HPP

#include <stemma/core/concepts.hpp>

#include <cstddef>
#include <vector>

namespace stemma {

/// Whether every edge leads from a lower `vertex_index` to a higher one, and `vertices` follows it.
///
/// Complexity: O(V + E).
template <operator_graph_like Graph>
[[nodiscard]] bool is_topologically_indexed(const Graph& graph) {
    std::size_t expected = 0;
    for (auto [it, last] = vertices(graph); it != last; ++it, ++expected) {
        if (index_of(graph, *it) != expected) {
            return false;
        }
        for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
            if (index_of(graph, source(*in, graph)) >= expected) {
                return false;
            }
        }
    }
    return true;
}

/// Every vertex behind all its producers. What hangs on a cycle has no such place and is left out.
///
/// Returns: a prefix-closed order; shorter than `num_vertices` exactly when there is a cycle.
/// Complexity: O(V + E) (Kahn 1962).
template <operator_graph_like Graph>
[[nodiscard]] std::vector<vertex_t<Graph>> topological_order(const Graph& graph) {
    std::vector<vertex_t<Graph>> order;
    order.reserve(num_vertices(graph));
    std::vector<std::size_t> waiting(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        std::size_t producers = 0;
        for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
            ++producers;
        }
        waiting[index_of(graph, *it)] = producers;
        if (producers == 0) {
            order.push_back(*it);
        }
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
        for (auto [out, out_last] = out_edges(order[done], graph); out != out_last; ++out) {
            const auto reader = target(*out, graph);
            if (--waiting[index_of(graph, reader)] == 0) {
                order.push_back(reader);
            }
        }
    }
    return order;
}

} // namespace stemma

#endif // STEMMA_CORE_TOPOLOGICAL_ORDER_HPP
