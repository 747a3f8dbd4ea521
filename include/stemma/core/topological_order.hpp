// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_TOPOLOGICAL_ORDER_HPP
#define STEMMA_CORE_TOPOLOGICAL_ORDER_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Whether every edge leads from a lower `vertex_index` to a higher one, and `vertices` ascends.
///
/// Complexity: O(V + E).
template <operator_graph_like Graph>
[[nodiscard]] bool is_topologically_indexed(const Graph& graph) {
    std::size_t expected = 0;
    for (auto [it, last] = vertices(graph); it != last; ++it, ++expected) {
        if (detail::index_of(graph, *it) != expected) {
            return false;
        }
        for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
            if (detail::index_of(graph, source(*in, graph)) >= expected) {
                return false;
            }
        }
    }
    return true;
}

namespace detail {

/// Orders vertices after everything they depend on (Kahn 1962): `count(v)` returns the number of
/// dependencies with repeats, and `release(v, f)` calls `f(w)` for each dependent of `v`, as often
/// as it depends on it.
///
/// `boost::topological_sort` takes 1.6 to 5 times as long (bench/core/topological_order_bench.cpp),
/// and throws on a cycle where this orders what it can.
template <operator_graph_like Graph, class Count, class Release>
[[nodiscard]] std::vector<vertex_t<Graph>> order_by_dependence(const Graph& graph, Count count,
                                                               Release release) {
    std::vector<vertex_t<Graph>> order;
    order.reserve(num_vertices(graph));
    std::vector<id> waiting(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto open = static_cast<id>(count(*it));
        waiting[index_of(graph, *it)] = open;
        if (open == 0) {
            order.push_back(*it);
        }
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
        const auto v = order[done];
        release(v, [&](const vertex_t<Graph>& w) {
            if (--waiting[index_of(graph, w)] == 0) {
                order.push_back(w);
            }
        });
    }
    return order;
}

/// Returns: the distance between two iterators.
template <class Iterator>
[[nodiscard]] std::size_t count_steps(std::pair<Iterator, Iterator> range) {
    std::size_t steps = 0;
    for (auto [it, last] = range; it != last; ++it) {
        ++steps;
    }
    return steps;
}

} // namespace detail

/// Every vertex after all its producers. Vertices on or after a cycle are left out.
///
/// Returns: a prefix-closed order; shorter than `num_vertices` exactly when there is a cycle.
/// Complexity: O(V + E).
template <operator_graph_like Graph>
[[nodiscard]] std::vector<vertex_t<Graph>> topological_order(const Graph& graph) {
    return detail::order_by_dependence(
        graph, [&](const auto& v) { return detail::count_steps(in_edges(v, graph)); },
        [&](const auto& v, auto f) {
            for (auto [it, last] = out_edges(v, graph); it != last; ++it) {
                f(target(*it, graph));
            }
        });
}

namespace detail {

/// The same against the edges: every vertex after all its readers. Complexity: O(V + E).
template <operator_graph_like Graph>
[[nodiscard]] std::vector<vertex_t<Graph>> reverse_topological_order(const Graph& graph) {
    return order_by_dependence(
        graph, [&](const auto& v) { return detail::count_steps(out_edges(v, graph)); },
        [&](const auto& v, auto f) {
            for (auto [it, last] = in_edges(v, graph); it != last; ++it) {
                f(source(*it, graph));
            }
        });
}

} // namespace detail

/// Rejects other graphs, with an explanation.
template <class Graph>
    requires(!operator_graph_like<Graph>)
std::vector<vertex_t<Graph>> topological_order(const Graph&) {
    static_assert(explain_operator_graph<Graph>());
    return {};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_TOPOLOGICAL_ORDER_HPP
