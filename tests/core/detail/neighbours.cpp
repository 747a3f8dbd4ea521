// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/neighbours.hpp>

#include "../../catch.hpp"
#include "../../graph_with_edges.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::core_detail_neighbours {

using stemma::id;

TEST_CASE("neighbours: one vertex for each edge, in order") {
    const auto graph = test::graph_with_edges(4, {{0, 2}, {1, 2}, {0, 2}, {2, 3}});
    std::vector<id> found;
    for (const auto u : stemma::detail::producers_of(graph, 2)) {
        found.push_back(u);
    }
    CHECK(found == std::vector<id>{0, 1, 0});
    CHECK(stemma::detail::readers_of(graph, 3).empty());
    CHECK(stemma::detail::readers_of(graph, 2).is_single());
    CHECK(stemma::detail::readers_of(graph, 2).front() == 3);
    CHECK_FALSE(stemma::detail::readers_of(graph, 0).is_single());
}

} // namespace test::core_detail_neighbours
