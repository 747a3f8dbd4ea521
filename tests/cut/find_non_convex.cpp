// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/find_non_convex.hpp>

#include "../catch.hpp"
#include "../graph_with_edges.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/tree_index.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace test::cut_find_non_convex {

namespace {

using stemma::id;
using stemma::no_id;
using stemma::operator_graph;

std::vector<stemma::attribution> in_modules(const std::vector<id>& modules) {
    std::vector<stemma::attribution> attributions(modules.size());
    for (std::size_t v = 0; v < modules.size(); ++v) {
        attributions[v].module = modules[v];
    }
    return attributions;
}

/// By definition: some way leads from the set to an outside vertex and back.
bool is_convex(const operator_graph& graph, const std::vector<bool>& inside) {
    const auto count = inside.size();
    std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count, false));
    for (std::size_t u = count; u-- > 0;) {
        for (auto [it, last] = out_edges(static_cast<id>(u), graph); it != last; ++it) {
            const auto v = target(*it, graph);
            reaches[u][v] = true;
            for (std::size_t w = 0; w < count; ++w) {
                reaches[u][w] = reaches[u][w] || reaches[v][w];
            }
        }
    }
    for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t out = 0; out < count; ++out) {
            for (std::size_t b = 0; b < count; ++b) {
                if (inside[a] && !inside[out] && inside[b] && reaches[a][out] && reaches[out][b]) {
                    return false;
                }
            }
        }
    }
    return true;
}

} // namespace

TEST_CASE("find_non_convex: finds a module that is left and reentered, with the path") {
    const stemma::tree_index tree({no_id, 0, 1, 0});
    const auto graph = graph_with_edges(4, {{0, 1}, {1, 2}, {2, 3}});
    const auto non_convex = stemma::find_non_convex_modules(graph, tree, in_modules({2, 3, 3, 2}),
                                                            std::vector<bool>(4, false));
    REQUIRE(non_convex.size() == 2); // and the module above
    CHECK(non_convex[0].module == 1);
    CHECK(non_convex[1].module == 2);
    CHECK(non_convex[1].witness == std::vector<id>{0, 1, 2, 3});
    // What is between does not count when everybody gets a copy of it.
    CHECK(stemma::find_non_convex_modules(graph, tree, in_modules({2, 3, 3, 2}),
                                          {false, true, true, false})
              .empty());
    CHECK(stemma::find_non_convex_modules(graph, tree, in_modules({2, 2, 3, 3}),
                                          std::vector<bool>(4, false))
              .empty());
}

TEST_CASE("find_non_convex: agrees with the definition on random graphs") {
    test::random_numbers random(7);
    const stemma::tree_index tree({no_id, 0, 1, 1, 0, 4});
    for (int round = 0; round < 200; ++round) {
        const std::size_t count = 2 + random(12);
        std::vector<std::pair<id, id>> pairs;
        for (std::size_t v = 1; v < count; ++v) {
            for (std::size_t e = random(3); e-- > 0;) {
                pairs.emplace_back(static_cast<id>(random(v)), static_cast<id>(v));
            }
        }
        std::vector<id> modules;
        for (std::size_t v = 0; v < count; ++v) {
            modules.push_back(static_cast<id>(random(tree.size())));
        }
        const auto graph = graph_with_edges(count, pairs);
        const auto non_convex = stemma::find_non_convex_modules(graph, tree, in_modules(modules),
                                                                std::vector<bool>(count, false));
        for (id m = 1; m < tree.size(); ++m) {
            std::vector<bool> inside;
            for (auto module : modules) {
                inside.push_back(tree.is_ancestor(m, module));
            }
            const auto one = std::find_if(non_convex.begin(), non_convex.end(),
                                          [&](const auto& each) { return each.module == m; });
            REQUIRE((one == non_convex.end()) == is_convex(graph, inside));
            if (one != non_convex.end()) {
                const auto& way = one->witness;
                REQUIRE(way.size() >= 3);
                CHECK(inside[way.front()]);
                CHECK(inside[way.back()]);
                for (std::size_t i = 1; i < way.size(); ++i) {
                    CHECK((inside[way[i]] == (i + 1 == way.size())));
                    CHECK(std::count(pairs.begin(), pairs.end(), std::pair(way[i - 1], way[i])) >
                          0);
                }
            }
        }
    }
}

TEST_CASE("find_non_convex: finds nothing in graphs with cycles") {
    const stemma::tree_index tree({no_id, 0, 0});
    const auto graph = graph_with_edges(2, {{0, 1}, {1, 0}});
    CHECK(stemma::find_non_convex_modules(graph, tree, in_modules({1, 2}),
                                          std::vector<bool>(2, false))
              .empty());
}

} // namespace test::cut_find_non_convex
