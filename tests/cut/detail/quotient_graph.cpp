// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/quotient_graph.hpp>

#include "../../catch.hpp"
#include "../../random_dags.hpp"
#include "../../random_numbers.hpp"

#include <set>
#include <span>
#include <utility>

namespace test::cut_detail_quotient_graph {

namespace {

using stemma::id;
using stemma::no_id;

} // namespace

TEST_CASE("quotient_graph: one edge between two parts iff some vertices have one",
          "[algorithm][quotient_graph]") {
    test::random_numbers random(8);
    for (int round = 0; round < 500; ++round) {
        const test::random_dag dag(random, 1 + random(20), random(40));
        auto part = test::random_parts(random, dag.order.size(), 4);
        if (random.one_in(2)) {
            part[random(part.size())] = no_id;
        }
        std::set<std::pair<id, id>> expected;
        for (auto [from, to] : dag.edges.edges) {
            if (part[from] != part[to] && part[from] != no_id && part[to] != no_id) {
                expected.emplace(part[from], part[to]);
            }
        }
        const auto graph = stemma::detail::quotient_graph(dag.graph, std::span<const id>(part), 4);
        CHECK(num_vertices(graph) == 4);
        CHECK(num_edges(graph) == expected.size());
        for (auto [it, last] = edges(graph); it != last; ++it) {
            CHECK(expected.count({static_cast<id>(source(*it, graph)),
                                  static_cast<id>(target(*it, graph))}) == 1);
        }
    }
}

} // namespace test::cut_detail_quotient_graph
