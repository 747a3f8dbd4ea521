// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/partition_graph.hpp>

#include "../catch.hpp"

#include <boost/graph/adjacency_list.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test::cut_partition_graph {

namespace {

using stemma::id;
using stemma::partition_plan;

using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

/// A chain whose even vertices go to one part, so that parts read from each other in circles.
struct scene {
    graph chain{6};
    std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
    std::vector<std::uint64_t> costs = std::vector<std::uint64_t>(6, 1);

    scene() {
        for (std::size_t v = 1; v < 6; ++v) {
            add_edge(v - 1, v, chain);
        }
    }

    [[nodiscard]] stemma::partition_problem<graph> problem() const { return {chain, order, costs}; }
};

} // namespace

TEST_CASE("partition_graph: pieces run in sequence, on any Boost graph",
          "[algorithm][partition_graph]") {
    const scene s;
    const auto pieces = stemma::partition_graph(
        s.problem(), stemma::parts_by_rule{2, [](std::size_t v) { return v % 2; }});
    CHECK(pieces.pieces.size() == 6);
    for (std::size_t v = 1; v < 6; ++v) {
        CHECK(pieces.piece_of[v - 1] < pieces.piece_of[v]);
    }
    CHECK(stemma::partition_graph(s.problem(), stemma::balanced_parts{3}).piece_of ==
          std::vector<id>{0, 0, 1, 1, 2, 2});
    CHECK(stemma::partition_graph(s.problem(), stemma::parts_by_level{4}).pieces.size() == 2);
    const auto refused = stemma::partition_graph(s.problem(), stemma::balanced_parts{9});
    CHECK(refused.pieces.empty());
    CHECK(refused.refusal.find("into 9 parts") == 0);
}

TEST_CASE("partition_graph: parts without vertices cost nothing", "[algorithm][partition_graph]") {
    const scene s;
    const stemma::parts_by_rule sparse{stemma::no_id,
                                       [](std::size_t v) { return v < 3 ? 4'000'000'000 : 7; }};
    const auto divided = stemma::partition_graph(s.problem(), sparse);
    REQUIRE(divided.pieces.size() == 2);
    CHECK(divided.pieces[0].part == 4'000'000'000);
    CHECK(divided.pieces[1].part == 7);
    CHECK(divided.piece_of == std::vector<id>{0, 0, 0, 1, 1, 1});
}

TEST_CASE("partition_graph: an invalid plan is a refusal", "[algorithm][partition_graph]") {
    const scene s;
    const stemma::parts_by_rule beyond{2, [](std::size_t v) { return v; }};
    const auto divided = stemma::partition_graph(s.problem(), beyond);
    CHECK(divided.pieces.empty());
    CHECK(divided.refusal == "partition: a vertex is assigned to a nonexistent part");
}

TEST_CASE("find_partition_fault: reports plans that no algorithm could use",
          "[algorithm][partition_graph]") {
    const auto fault = [](const partition_plan& plan) {
        return stemma::detail::find_partition_fault(plan, 2, 3);
    };
    CHECK(fault({1, {0, 0}, {}, {}}).empty());
    CHECK(fault({2, {0, 1}, {2, 0}, {}}).empty());
    CHECK_FALSE(fault({0, {0, 0}, {}, {}}).empty());
    CHECK_FALSE(fault({1, {0}, {}, {}}).empty());
    CHECK_FALSE(fault({1, {0, 1}, {}, {}}).empty());
    CHECK_FALSE(fault({1, {0, stemma::no_id}, {}, {}}).empty());
    CHECK_FALSE(fault({1, {0, 0}, {1, 1}, {}}).empty());
    CHECK_FALSE(fault({1, {0, 0}, {3}, {}}).empty());
}

} // namespace test::cut_partition_graph
