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
/// Edge property: which input of the reader; `no_id` where no input slot is meant (a body's
/// result).
struct in_port_t {
    using kind = boost::edge_property_tag;
};
/// Edge property: which output of the producer.
struct out_port_t {
    using kind = boost::edge_property_tag;
};

/// Property: which value an edge carries.
inline constexpr value_index_t value_index{};

namespace detail {

/// Property: as which input the value is read.
inline constexpr in_port_t in_port{};
/// Property: as which output the value is made.
inline constexpr out_port_t out_port{};

} // namespace detail

/// One edge as it is handed to an operator_graph.
struct operator_edge {
    id source = no_id;   ///< the producer
    id target = no_id;   ///< the reader
    id value = no_id;    ///< what flows, as the caller numbers values
    id in_port = no_id;  ///< `no_id` where no input slot is meant
    id out_port = no_id; ///< which output of the producer
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_OPERATOR_EDGE_HPP
