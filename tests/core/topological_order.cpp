// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/topological_order.hpp>

#include "../catch.hpp"
#include "../random_graphs.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/concepts.hpp>

#include <cstddef>
#include <vector>

namespace test::core_topological_order {

using stemma::is_topologically_indexed;
using stemma::topological_order;
using stemma::detail::index_of;

namespace {

/// Whether `order` contains no vertex twice and none before one of its producers.
template <class Graph>
bool is_prefix_closed(const Graph& graph, const std::vector<stemma::vertex_t<Graph>>& order) {
    std::vector<char> placed(num_vertices(graph));
    for (auto v : order) {
        for (auto [in, last] = in_edges(v, graph); in != last; ++in) {
            if (!placed[index_of(graph, source(*in, graph))]) {
                return false;
            }
        }
        if (placed[index_of(graph, v)]++) {
            return false;
        }
    }
    return true;
}

template <class Make>
void check_on_random_graphs(Make make) {
    test::random_numbers random(1);
    std::size_t cyclic = 0;
    for (int round = 0; round < 300; ++round) {
        const auto edges = test::random_edges(random, 1 + random(12), random(20));
        const auto graph = make(edges);
        const auto order = topological_order(graph);
        REQUIRE(is_prefix_closed(graph, order));
        std::size_t placeable = 0;
        const auto reaches = test::reachability(edges);
        for (std::size_t v = 0; v < edges.count; ++v) {
            bool behind_cycle = false;
            for (std::size_t u = 0; u < edges.count; ++u) {
                behind_cycle |= reaches[u][u] && (u == v || reaches[u][v]);
            }
            placeable += behind_cycle ? 0U : 1U;
        }
        REQUIRE(order.size() == placeable);
        cyclic += placeable < edges.count ? 1U : 0U;
    }
    CHECK(cyclic > 30);
    CHECK(cyclic < 270);
}

} // namespace

TEST_CASE("topological_order: every vertex not on or after a cycle comes after its producers",
          "[core][topological_order]") {
    check_on_random_graphs([](const auto& edges) { return test::as_operator_graph(edges); });
    check_on_random_graphs([](const auto& edges) { return test::as_vector_graph(edges); });
    check_on_random_graphs([](const auto& edges) { return test::as_list_graph(edges); });
}

TEST_CASE("topological_order: an empty graph, a loop, parallel edges",
          "[core][topological_order]") {
    CHECK(topological_order(test::as_vector_graph({0, {}})).empty());
    CHECK(topological_order(test::as_vector_graph({1, {}})).size() == 1);
    CHECK(topological_order(test::as_vector_graph({1, {{0, 0}}})).empty());
    CHECK(topological_order(test::as_vector_graph({2, {{1, 0}, {1, 0}}})) ==
          std::vector<std::size_t>{1, 0});
}

TEST_CASE("topological_order: a chain of a million, numbered backwards",
          "[core][topological_order]") {
    constexpr std::size_t count = 1'000'000;
    test::edge_list edges{count, {}};
    for (std::size_t v = 1; v < count; ++v) {
        edges.edges.emplace_back(v, v - 1);
    }
    const auto order = topological_order(test::as_operator_graph(edges));
    REQUIRE(order.size() == count);
    CHECK(order.front() == count - 1);
    CHECK(order.back() == 0);
}

TEST_CASE("is_topologically_indexed: holds iff every edge leads upwards",
          "[core][topological_order]") {
    test::random_numbers random(2);
    for (int round = 0; round < 300; ++round) {
        const auto edges = test::random_edges(random, 1 + random(6), random(5));
        bool upwards = true;
        for (auto [from, to] : edges.edges) {
            upwards &= from < to;
        }
        REQUIRE(is_topologically_indexed(test::as_operator_graph(edges)) == upwards);
        REQUIRE(is_topologically_indexed(test::as_vector_graph(edges)) == upwards);
        REQUIRE(is_topologically_indexed(test::as_list_graph(edges)) == upwards);
    }
}

TEST_CASE("is_topologically_indexed: the vertices have to be visited in that order as well",
          "[core][topological_order]") {
    auto graph = test::as_list_graph({2, {{0, 1}}});
    CHECK(is_topologically_indexed(graph));
    auto it = vertices(graph).first;
    put(boost::vertex_index, graph, *it, std::size_t{1});
    put(boost::vertex_index, graph, *++it, std::size_t{0});
    CHECK_FALSE(is_topologically_indexed(graph));
}

} // namespace test::core_topological_order
