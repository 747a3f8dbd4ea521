// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_EDGE_VALUES_HPP
#define STEMMA_MODEL_EDGE_VALUES_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_edge.hpp>

#include <boost/pending/property.hpp>

#include <concepts>

namespace stemma::inline STEMMA_ABI {

namespace detail {

// Boost's own graphs have a property list, and cause hard errors for other properties.
template <class Graph>
concept lacks_value_property = requires {
    typename Graph::edge_property_type;
    requires !boost::lookup_one_property<typename Graph::edge_property_type, value_index_t>::found;
};

} // namespace detail

/// Whether edges of a graph carry value ids. Otherwise each vertex is assumed to produce one value.
template <class Graph>
concept carries_values =
    !detail::lacks_value_property<Graph> && requires(const Graph& graph, edge_t<Graph> e) {
    { get(value_index, graph, e) } -> std::convertible_to<id>;
};

namespace detail {

/// Returns: the value of an edge.
template <operator_graph_like Graph>
[[nodiscard]] id value_on(const Graph& graph, edge_t<Graph> e) {
    if constexpr (carries_values<Graph>) {
        return get(value_index, graph, e);
    } else {
        return static_cast<id>(index_of(graph, source(e, graph)));
    }
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_EDGE_VALUES_HPP
