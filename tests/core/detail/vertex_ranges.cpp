// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/vertex_ranges.hpp>

#include "../../catch.hpp"

#include <boost/graph/adjacency_list.hpp>

#include <cstddef>
#include <vector>

namespace test::core_detail_vertex_ranges {

namespace {

/// The vertices passed to each part.
template <class Graph>
std::vector<std::vector<typename Graph::vertex_descriptor>> divide(const Graph& graph,
                                                                   std::size_t count) {
    std::vector<std::vector<typename Graph::vertex_descriptor>> parts(count);
    stemma::detail::for_each_vertex_range(
        graph, count,
        [&](std::size_t part, auto first, auto last) { parts[part].assign(first, last); });
    return parts;
}

template <class Graph>
void check(const Graph& graph, std::size_t count) {
    std::vector<typename Graph::vertex_descriptor> all;
    for (const auto& part : divide(graph, count)) {
        CHECK(part.size() >= num_vertices(graph) / count);
        CHECK(part.size() <= num_vertices(graph) / count + 1);
        all.insert(all.end(), part.begin(), part.end());
    }
    const auto [first, last] = vertices(graph);
    CHECK(all == std::vector<typename Graph::vertex_descriptor>(first, last));
}

} // namespace

TEST_CASE("for_each_vertex_range: the ranges cover all vertices, in the graph's order",
          "[core][vertex_ranges]") {
    for (const std::size_t size : {0U, 1U, 7U, 100U}) {
        for (const std::size_t count : {1U, 3U, 8U}) {
            check(boost::adjacency_list<boost::vecS, boost::vecS>(size), count);
            check(boost::adjacency_list<boost::vecS, boost::listS>(size), count);
        }
    }
}

} // namespace test::core_detail_vertex_ranges
