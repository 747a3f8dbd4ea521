// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_EDGELESS_GRAPH_HPP
#define STEMMA_MODEL_DETAIL_EDGELESS_GRAPH_HPP

#include <stemma/core/id.hpp>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/property_map/property_map.hpp>

#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Vertices without edges, for views of operators whose wiring is not yet known: names and metadata
/// need none.
///
/// Models Boost's VertexListGraph, BidirectionalGraph and PropertyGraph with `boost::vertex_index`.
/// Each function of these concepts takes O(1).
class edgeless_graph {
public:
    /// No edge exists; the concepts need the type.
    struct edge {
        friend bool operator==(const edge&, const edge&) = default;
    };

    /// Vertices are 0 to `count` - 1.
    explicit edgeless_graph(id count = 0) noexcept : count_(count) {}

    friend std::pair<boost::counting_iterator<id>, boost::counting_iterator<id>>
    vertices(const edgeless_graph& g) {
        return {boost::counting_iterator<id>(0), boost::counting_iterator<id>(g.count_)};
    }
    friend id num_vertices(const edgeless_graph& g) { return g.count_; }
    friend std::pair<const edge*, const edge*> in_edges(id, const edgeless_graph&) { return {}; }
    friend std::pair<const edge*, const edge*> out_edges(id, const edgeless_graph&) { return {}; }
    friend id in_degree(id, const edgeless_graph&) { return 0; }
    friend id out_degree(id, const edgeless_graph&) { return 0; }
    friend id degree(id, const edgeless_graph&) { return 0; }
    friend id source(const edge&, const edgeless_graph&) { return no_id; }
    friend id target(const edge&, const edgeless_graph&) { return no_id; }

private:
    id count_;
};

inline boost::identity_property_map get(boost::vertex_index_t, const edgeless_graph&) {
    return {};
}
inline id get(boost::vertex_index_t, const edgeless_graph&, id v) {
    return v;
}

} // namespace stemma::inline STEMMA_ABI::detail

namespace boost {

template <>
struct graph_traits<stemma::detail::edgeless_graph> {
    using vertex_descriptor = stemma::id;
    using edge_descriptor = stemma::detail::edgeless_graph::edge;
    using directed_category = bidirectional_tag;
    using edge_parallel_category = disallow_parallel_edge_tag;
    struct traversal_category : virtual vertex_list_graph_tag, virtual bidirectional_graph_tag {};
    using vertex_iterator = counting_iterator<stemma::id>;
    using out_edge_iterator = const edge_descriptor*;
    using in_edge_iterator = const edge_descriptor*;
    using vertices_size_type = stemma::id;
    using degree_size_type = stemma::id;
    static stemma::id null_vertex() { return stemma::no_id; }
};

template <>
struct property_map<stemma::detail::edgeless_graph, vertex_index_t> {
    using type = identity_property_map;
    using const_type = identity_property_map;
};

} // namespace boost

#endif // STEMMA_MODEL_DETAIL_EDGELESS_GRAPH_HPP
