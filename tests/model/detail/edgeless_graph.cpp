// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/edgeless_graph.hpp>

#include "../../catch.hpp"

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>

#include <boost/concept/assert.hpp>
#include <boost/graph/graph_concepts.hpp>

#include <vector>

namespace test::model_detail_edgeless_graph {

using stemma::id;
using stemma::detail::edgeless_graph;

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<edgeless_graph>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<edgeless_graph>));
BOOST_CONCEPT_ASSERT(
    (boost::ReadablePropertyGraphConcept<edgeless_graph, id, boost::vertex_index_t>));

TEST_CASE("edgeless_graph: has its vertices in order, and no edges", "[edgeless_graph]") {
    STATIC_REQUIRE(stemma::operator_graph_like<edgeless_graph>);
    const edgeless_graph graph(3);
    CHECK(num_vertices(graph) == 3);
    std::vector<std::size_t> order;
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        order.push_back(stemma::detail::index_of(graph, *it));
        const auto [in, in_last] = in_edges(*it, graph);
        const auto [out, out_last] = out_edges(*it, graph);
        CHECK(in == in_last);
        CHECK(out == out_last);
        CHECK(degree(*it, graph) == 0);
    }
    CHECK(order == std::vector<std::size_t>{0, 1, 2});
    CHECK(num_vertices(edgeless_graph()) == 0);
}

} // namespace test::model_detail_edgeless_graph
