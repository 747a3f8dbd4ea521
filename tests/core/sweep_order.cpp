// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/sweep_order.hpp>

#include "../catch.hpp"
#include "../random_graphs.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/concepts.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace test::core_sweep_order {

using stemma::sweep_order;
using stemma::detail::index_of;

namespace {

constexpr auto nowhere = static_cast<std::size_t>(-1);

/// Returns: by vertex index, the step of a sweep at which the vertex was visited.
template <class Graph, class Sweep>
std::vector<std::size_t> steps(const Graph& graph, Sweep sweep) {
    std::vector<std::size_t> step(num_vertices(graph), nowhere);
    std::size_t next = 0;
    sweep([&](auto v) {
        CHECK(step[index_of(graph, v)] == nowhere);
        step[index_of(graph, v)] = next++;
    });
    return step;
}

template <class Graph>
void check(const test::edge_list& edges, const Graph& graph) {
    const sweep_order order(graph);
    const auto forward = steps(graph, [&](auto f) { order.forward(f); });
    const auto backward = steps(graph, [&](auto f) { order.backward(f); });
    const auto reaches = test::reachability(edges);
    bool has_cycle = false;
    for (std::size_t v = 0; v < edges.count; ++v) {
        bool behind = false;
        bool before = false;
        for (std::size_t u = 0; u < edges.count; ++u) {
            const bool on_cycle = reaches[u][u];
            has_cycle |= on_cycle;
            behind |= on_cycle && (u == v || reaches[u][v]);
            before |= on_cycle && (u == v || reaches[v][u]);
        }
        REQUIRE((forward[v] == nowhere) == behind);
        REQUIRE((backward[v] == nowhere) == before);
    }
    REQUIRE(order.has_cycle() == has_cycle);
    for (auto [from, to] : edges.edges) {
        REQUIRE((forward[to] == nowhere || forward[from] < forward[to]));
        REQUIRE((backward[from] == nowhere || backward[to] < backward[from]));
    }
}

} // namespace

TEST_CASE("sweep_order: results flow from every producer, and back from every reader",
          "[core][sweep_order]") {
    test::random_numbers random(1);
    for (int round = 0; round < 300; ++round) {
        auto edges = test::random_edges(random, random(10), random(15));
        for (auto& [from, to] : edges.edges) {
            if (round % 3 == 0 && from > to) { // already in order
                std::swap(from, to);
            }
        }
        check(edges, test::as_operator_graph(edges));
        check(edges, test::as_vector_graph(edges));
        check(edges, test::as_list_graph(edges));
    }
}

} // namespace test::core_sweep_order
