// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_CONCEPTS_HPP
#define STEMMA_CORE_CONCEPTS_HPP

#include <stemma/config.hpp>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace stemma::inline STEMMA_ABI {

/// How a graph names a vertex.
template <class Graph>
using vertex_t = typename boost::graph_traits<Graph>::vertex_descriptor;

/// How a graph names an edge.
template <class Graph>
using edge_t = typename boost::graph_traits<Graph>::edge_descriptor;

/// The part of Boost.Graph's VertexListGraph that the library uses. `operator_graph` models it.
///
/// Requires: iterators are multi-pass, as Boost demands.
template <class Graph>
concept vertex_list_graph = std::regular<vertex_t<Graph>> && requires(const Graph& g) {
    { *vertices(g).first } -> std::convertible_to<vertex_t<Graph>>;
    { num_vertices(g) } -> std::unsigned_integral;
};

/// The part of Boost.Graph's IncidenceGraph that the library uses. `module_tree` models it.
template <class Graph>
concept incidence_graph = std::regular<vertex_t<Graph>> && std::regular<edge_t<Graph>> &&
    requires(const Graph& g, vertex_t<Graph> v, edge_t<Graph> e) {
    { *out_edges(v, g).first } -> std::convertible_to<edge_t<Graph>>;
    { source(e, g) } -> std::convertible_to<vertex_t<Graph>>;
    { target(e, g) } -> std::convertible_to<vertex_t<Graph>>;
};

/// The part of Boost.Graph's BidirectionalGraph that the library uses. `operator_graph` models it.
template <class Graph>
concept bidirectional_graph = incidence_graph<Graph> &&
    requires(const Graph& g, vertex_t<Graph> v) {
    { *in_edges(v, g).first } -> std::convertible_to<edge_t<Graph>>;
};

namespace detail {

/// An adjacency_list without built-in vertex numbers.
template <class Graph>
concept unnumbered_list = std::is_void_v<std::remove_pointer_t<vertex_t<Graph>>> && requires {
    typename Graph::vertex_property_type;
};

/// Whether `get(boost::vertex_index, ...)` may be named: for an adjacency_list whose vertices lack
/// that property it is a hard error inside Boost rather than an unsatisfied concept.
template <class Graph>
inline constexpr bool may_have_vertex_index = true;

template <unnumbered_list Graph>
inline constexpr bool may_have_vertex_index<Graph> =
    boost::lookup_one_property<typename Graph::vertex_property_type, boost::vertex_index_t>::found;

} // namespace detail

/// A graph whose vertices carry an interior `vertex_index`.
///
/// Requires: the indices are 0 to `num_vertices(g)` - 1, each once.
template <class Graph>
concept vertex_indexed_graph = detail::may_have_vertex_index<Graph> &&
    requires(const Graph& g, vertex_t<Graph> v) {
    { get(boost::vertex_index, g, v) } -> std::convertible_to<std::size_t>;
};

/// What algorithms over operators require of a graph.
template <class Graph>
concept operator_graph_like =
    vertex_list_graph<Graph> && bidirectional_graph<Graph> && vertex_indexed_graph<Graph>;

/// Put `static_assert(explain_operator_graph<mine>());` next to a graph that is rejected.
template <class Graph>
consteval bool explain_operator_graph() {
    static_assert(vertex_list_graph<Graph>, "graph of operators: model Boost's VertexListGraph "
                                            "(`vertices(g)`, `num_vertices(g)`)");
    static_assert(incidence_graph<Graph>, "graph of operators: model Boost's IncidenceGraph "
                                          "(`out_edges(v, g)`, `source(e, g)`, `target(e, g)`)");
    static_assert(bidirectional_graph<Graph> || !incidence_graph<Graph>,
                  "graph of operators: add `in_edges(v, g)`; an adjacency_list has it with "
                  "`boost::bidirectionalS`");
    static_assert(vertex_indexed_graph<Graph>,
                  "graph of operators: add a `vertex_index` from 0; an adjacency_list has it with "
                  "`boost::vecS` for vertices, or as a property of these");
    return true; // any violation has failed above
}

/// Text that outlives the expression that produced it: a view, pointer or reference, but not a
/// string by value.
template <class T>
concept lasting_text = std::convertible_to<T, std::string_view> &&
    (std::is_lvalue_reference_v<T> || std::is_trivially_copyable_v<T>);

/// A Boost property map yielding text that outlives the call.
template <class Map, class Key>
concept text_map = requires(const Map& map, const Key& key) {
    { get(map, key) } -> lasting_text;
};

namespace detail {

/// The position of a vertex in [0, n).
template <vertex_indexed_graph Graph>
[[nodiscard]] std::size_t index_of(const Graph& graph, vertex_t<Graph> v) {
    return static_cast<std::size_t>(get(boost::vertex_index, graph, v));
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_CONCEPTS_HPP
