// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_GRAPH_WITH_EDGES_HPP
#define STEMMA_TESTS_GRAPH_WITH_EDGES_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace test {

using vertex_pairs = std::vector<std::pair<stemma::id, stemma::id>>;

/// Returns: a graph with that many operators, and an edge for each pair; an operator produces one
/// value.
inline stemma::operator_graph graph_with_edges(std::size_t count, const vertex_pairs& from_to) {
    std::vector<stemma::operator_edge> edges;
    for (const auto& [from, to] : from_to) {
        edges.push_back({from, to, from, 0, 0});
    }
    return {count, edges};
}

} // namespace test

#endif // STEMMA_TESTS_GRAPH_WITH_EDGES_HPP
