// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_OPERATOR_EDGE_HPP
#define STEMMA_MODEL_OPERATOR_EDGE_HPP

#include <stemma/core/id.hpp>

#include <boost/graph/properties.hpp>

namespace stemma::inline STEMMA_ABI {

/// Edge property: the tensor that flows along the edge.
struct value_index_t {
    using kind = boost::edge_property_tag;
};
/// Property: the value that an edge carries.
inline constexpr value_index_t value_index{};

namespace detail {

/// Edge property: which input of the reader; `no_id` if it is not an input slot (a body's result).
struct in_port_t {
    using kind = boost::edge_property_tag;
};
/// Edge property: which output of the producer.
struct out_port_t {
    using kind = boost::edge_property_tag;
};

/// Property: the input that reads the value.
inline constexpr in_port_t in_port{};
/// Property: the output that produces the value.
inline constexpr out_port_t out_port{};

} // namespace detail

/// An edge as passed to an operator_graph.
struct operator_edge {
    id source = no_id;   ///< the producer
    id target = no_id;   ///< the reader
    id value = no_id;    ///< the value, as numbered by the caller
    id in_port = no_id;  ///< `no_id` if it is not an input slot
    id out_port = no_id; ///< which output of the producer
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_OPERATOR_EDGE_HPP
