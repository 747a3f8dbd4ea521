// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_NEIGHBOURS_HPP
#define STEMMA_CORE_DETAIL_NEIGHBOURS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>

#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// The indices of the vertices at one end of some edges, as a range with one for each edge.
/// `EndOf(edge, graph)` returns that vertex.
template <class Graph, class EdgeIterator,
          vertex_t<Graph> (*EndOf)(const edge_t<Graph>&, const Graph&)>
class edge_ends {
public:
    class iterator {
    public:
        iterator(const Graph& graph, EdgeIterator at) : graph_(&graph), at_(at) {}
        [[nodiscard]] id operator*() const {
            return static_cast<id>(index_of(*graph_, EndOf(*at_, *graph_)));
        }
        iterator& operator++() {
            ++at_;
            return *this;
        }
        [[nodiscard]] bool operator!=(const iterator& other) const { return at_ != other.at_; }

    private:
        const Graph* graph_;
        EdgeIterator at_;
    };

    /// Requires: the graph outlives it.
    edge_ends(const Graph& graph, std::pair<EdgeIterator, EdgeIterator> edges)
        : begin_(graph, edges.first), end_(graph, edges.second) {}

    [[nodiscard]] iterator begin() const { return begin_; }
    [[nodiscard]] iterator end() const { return end_; }
    [[nodiscard]] bool empty() const { return !(begin_ != end_); }
    /// Requires: there is one.
    [[nodiscard]] id front() const { return *begin_; }
    /// Whether there is exactly one edge.
    [[nodiscard]] bool is_single() const { return !empty() && !(++iterator(begin_) != end_); }

private:
    iterator begin_;
    iterator end_;
};

template <class Graph>
[[nodiscard]] vertex_t<Graph> source_of(const edge_t<Graph>& edge, const Graph& graph) {
    return source(edge, graph);
}

template <class Graph>
[[nodiscard]] vertex_t<Graph> target_of(const edge_t<Graph>& edge, const Graph& graph) {
    return target(edge, graph);
}

/// Returns: the vertices whose results `v` reads, by index, one for each edge.
template <bidirectional_graph Graph>
[[nodiscard]] auto producers_of(const Graph& graph, vertex_t<Graph> v) {
    using edges = typename boost::graph_traits<Graph>::in_edge_iterator;
    return edge_ends<Graph, edges, source_of<Graph>>(graph, in_edges(v, graph));
}

/// Returns: the vertices that read a result of `v`, likewise.
template <incidence_graph Graph>
[[nodiscard]] auto readers_of(const Graph& graph, vertex_t<Graph> v) {
    using edges = typename boost::graph_traits<Graph>::out_edge_iterator;
    return edge_ends<Graph, edges, target_of<Graph>>(graph, out_edges(v, graph));
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_NEIGHBOURS_HPP
