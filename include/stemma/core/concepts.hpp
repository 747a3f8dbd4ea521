// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_CONCEPTS_HPP
#define STEMMA_CORE_CONCEPTS_HPP

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/property_map/property_map.hpp>

#include <concepts>
#include <cstddef>

namespace stemma {

template <class Graph>
using vertex_t = typename boost::graph_traits<Graph>::vertex_descriptor;

template <class Graph>
using edge_t = typename boost::graph_traits<Graph>::edge_descriptor;

/// A Boost.Graph VertexListGraph, as far as the library uses one. `operator_graph` models it.
template <class Graph>
concept vertex_list_graph = requires(const Graph& g) {
    { *vertices(g).first } -> std::convertible_to<vertex_t<Graph>>;
    { num_vertices(g) } -> std::unsigned_integral;
};

/// A Boost.Graph IncidenceGraph, as far as the library uses one. `module_tree` models it.
template <class Graph>
concept incidence_graph = requires(const Graph& g, vertex_t<Graph> v, edge_t<Graph> e) {
    { *out_edges(v, g).first } -> std::convertible_to<edge_t<Graph>>;
    { source(e, g) } -> std::convertible_to<vertex_t<Graph>>;
    { target(e, g) } -> std::convertible_to<vertex_t<Graph>>;
};

/// A Boost.Graph BidirectionalGraph, as far as the library uses one. `operator_graph` models it.
template <class Graph>
concept bidirectional_graph = incidence_graph<Graph> &&
    requires(const Graph& g, vertex_t<Graph> v) {
    { *in_edges(v, g).first } -> std::convertible_to<edge_t<Graph>>;
};

/// A graph whose vertices carry an interior `vertex_index`.
///
/// Requires: the indices are 0 to `num_vertices(g)` - 1, each once.
template <class Graph>
concept vertex_indexed_graph = requires(const Graph& g, vertex_t<Graph> v) {
    { get(boost::vertex_index, g, v) } -> std::convertible_to<std::size_t>;
};

/// What the algorithms over operators ask of a graph.
template <class Graph>
concept operator_graph_like =
    vertex_list_graph<Graph> && bidirectional_graph<Graph> && vertex_indexed_graph<Graph>;

/// A Boost property map that yields something convertible to `Value`.
template <class Map, class Key, class Value>
concept readable_map = requires(const Map& map, const Key& key) {
    { get(map, key) } -> std::convertible_to<Value>;
};

/// A Boost property map that takes a `Value`.
template <class Map, class Key, class Value>
concept writable_map = requires(const Map& map, const Key& key, Value value) {
    put(map, key, value);
};

/// The position of a vertex in [0, n).
template <vertex_indexed_graph Graph>
[[nodiscard]] std::size_t index_of(const Graph& graph, vertex_t<Graph> v) {
    return static_cast<std::size_t>(get(boost::vertex_index, graph, v));
}

} // namespace stemma

#endif // STEMMA_CORE_CONCEPTS_HPP
