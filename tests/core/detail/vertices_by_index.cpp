// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/vertices_by_index.hpp>

#include "../../catch.hpp"

#include <stemma/core/concepts.hpp>
#include <stemma/model/detail/edgeless_graph.hpp>
#include <stemma/model/operator_graph.hpp>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/reverse_graph.hpp>

#include <array>
#include <cstddef>

namespace test::core_detail_vertices_by_index {

namespace {

using boost::bidirectionalS;
using boost::listS;
using boost::vecS;

using indexed_list = boost::adjacency_list<listS, listS, bidirectionalS,
                                           boost::property<boost::vertex_index_t, std::size_t>>;

/// Whether each index leads to its vertex.
template <class Graph>
void check(const Graph& graph) {
    const stemma::detail::vertices_by_index vertex(graph);
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        CHECK(vertex[stemma::detail::index_of(graph, *it)] == *it);
    }
}

} // namespace

TEST_CASE("vertices_by_index: each index leads to its vertex, whatever its type",
          "[core][vertices_by_index]") {
    indexed_list graph;
    for (const std::size_t index : {2U, 0U, 3U, 1U}) {
        add_vertex(index, graph);
    }
    check(graph);
    check(boost::adjacency_list<vecS, vecS, bidirectionalS>(5));
    check(boost::adjacency_list<vecS, vecS, bidirectionalS>());
    check(stemma::operator_graph(4, std::array<stemma::operator_edge, 1>{{{0, 3, 0, 0, 0}}}));
}

TEST_CASE("vertices_are_indices: if the graph's map says so", "[core][vertices_by_index]") {
    STATIC_REQUIRE(stemma::detail::vertices_are_indices<stemma::operator_graph>);
    STATIC_REQUIRE(stemma::detail::vertices_are_indices<stemma::detail::edgeless_graph>);
    STATIC_REQUIRE(
        stemma::detail::vertices_are_indices<boost::reverse_graph<stemma::operator_graph>>);
    STATIC_REQUIRE_FALSE(stemma::detail::vertices_are_indices<indexed_list>);
}

} // namespace test::core_detail_vertices_by_index
