// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/tree_index.hpp>

#include "../catch.hpp"
#include "../random_graphs.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace test::core_tree_index {

using stemma::id;
using stemma::no_id;
using stemma::tree_index;
using stemma::detail::index_tree;

namespace {

/// Returns: `r` and its ancestors, from the root down.
std::vector<id> way_to(const std::vector<id>& parents, id r) {
    std::vector<id> way;
    for (; r != no_id; r = parents[r]) {
        way.push_back(r);
    }
    return {way.rbegin(), way.rend()};
}

/// Compares every answer about two vertices with their paths from the root.
void check_pair(const std::vector<id>& parents, const tree_index& tree, id a, id b) {
    const auto to_a = way_to(parents, a);
    const auto to_b = way_to(parents, b);
    const auto split = std::mismatch(to_a.begin(), to_a.end(), to_b.begin(), to_b.end());
    const bool above = split.first == to_a.end();
    REQUIRE(tree.lca(a, b) == *(split.first - 1));
    REQUIRE(tree.is_ancestor(a, b) == above);
    REQUIRE(tree.are_related(a, b) == (above || split.second == to_b.end()));
    if (above && a != b) {
        REQUIRE(tree.child_towards(a, b) == *split.second);
    }
}

void check_single(const std::vector<id>& parents, const tree_index& tree, id r) {
    REQUIRE(tree.parent(r) == parents[r]);
    REQUIRE(tree.depth(r) == way_to(parents, r).size() - 1);
    const auto below = std::count_if(parents.begin(), parents.end(), [&](const id& parent) {
        const auto way = way_to(parents, static_cast<id>(&parent - parents.data()));
        return std::find(way.begin(), way.end(), r) != way.end();
    });
    REQUIRE(tree.end(r) == r + static_cast<id>(below));
    auto way = way_to(parents, r);
    way.pop_back();
    std::reverse(way.begin(), way.end());
    REQUIRE(ranges::equal(tree.ancestors(r), way));
    std::vector<id> children;
    std::vector<id> descendants;
    for (id other = 0; other < parents.size(); ++other) {
        if (parents[other] == r) {
            children.push_back(other);
        }
        if (other != r && tree.is_ancestor(r, other)) {
            descendants.push_back(other);
        }
    }
    REQUIRE(ranges::equal(tree.children(r), children));
    REQUIRE(tree.is_leaf(r) == children.empty());
    REQUIRE(ranges::equal(tree.descendants(r), descendants));
}

} // namespace

TEST_CASE("tree_index: agrees with the paths from the root on random trees", "[core][tree_index]") {
    test::random_numbers random(1);
    for (int round = 0; round < 300; ++round) {
        const auto parents = test::random_parents(random, 1 + random(40), 1 + random(6));
        const tree_index tree(parents);
        REQUIRE(tree.size() == parents.size());
        REQUIRE(ranges::equal(tree.parents(), parents));
        for (id a = 0; a < parents.size(); ++a) {
            check_single(parents, tree, a);
            for (id b = 0; b < parents.size(); ++b) {
                check_pair(parents, tree, a, b);
            }
        }
    }
}

TEST_CASE("tree_index: agrees with the paths from the root on large trees", "[core][tree_index]") {
    test::random_numbers random(2);
    for (std::size_t width : {2U, 3U, 4U, 50U}) {
        const auto parents = test::random_parents(random, 3000, width);
        const tree_index tree(parents);
        for (int round = 0; round < 2000; ++round) {
            check_pair(parents, tree, static_cast<id>(random(3000)), static_cast<id>(random(3000)));
        }
    }
}

TEST_CASE("tree_index: handles every shape of four vertices", "[core][tree_index]") {
    for (id second = 0; second <= 1; ++second) {
        for (id third = 0; third <= 2; ++third) {
            // In preorder, a parent is the previous vertex or one of its ancestors.
            const std::vector<id> parents{no_id, 0, second, third};
            const auto way = way_to(parents, 2);
            if (std::find(way.begin(), way.end(), third) == way.end()) {
                continue;
            }
            const tree_index tree(parents);
            for (id a = 0; a < 4; ++a) {
                for (id b = 0; b < 4; ++b) {
                    check_pair(parents, tree, a, b);
                }
            }
        }
    }
}

TEST_CASE("tree_index: handles a depth of a million", "[core][tree_index]") {
    constexpr id count = 1'000'000;
    test::vector_graph graph(count);
    std::vector<id> parents{no_id};
    for (id r = 1; r < count; ++r) {
        parents.push_back(r - 1);
        add_edge(r - 1, r, graph);
    }
    const tree_index tree(parents);
    CHECK(tree.depth(count - 1) == count - 1);
    CHECK(tree.lca(count - 1, count / 2) == count / 2);
    CHECK(tree.end(0) == count);
    CHECK(tree.child_towards(0, count - 1) == 1);
    const auto indexed = index_tree(graph, 0);
    CHECK(ranges::equal(indexed.index.parents(), parents));
}

TEST_CASE("tree_index: handles a comb of half a million teeth", "[core][tree_index]") {
    constexpr id teeth = 500'000; // the back is even, a tooth is odd
    std::vector<id> parents{no_id};
    for (id r = 1; r < 2 * teeth; ++r) {
        parents.push_back(r % 2 == 1 ? r - 1 : r - 2);
    }
    const tree_index tree(std::move(parents));
    test::random_numbers random(3);
    for (int round = 0; round < 1000; ++round) {
        const auto a = static_cast<id>(2 * random(teeth) + 1);
        const auto b = static_cast<id>(2 * random(teeth) + 1);
        CHECK(tree.lca(a, b) == (a == b ? a : std::min(a, b) - 1));
    }
}

TEST_CASE("index_tree: numbers any graph in preorder, children in the order of their edges",
          "[core][tree_index]") {
    test::random_numbers random(4);
    for (int round = 0; round < 200; ++round) {
        const auto parents = test::random_parents(random, 1 + random(30), 1 + random(5));
        // The vertices of the graph are the ranks in another order.
        std::vector<std::size_t> name(parents.size());
        for (std::size_t r = 0; r < name.size(); ++r) {
            name[r] = r;
            std::swap(name[r], name[random(r + 1)]);
        }
        test::edge_list edges{parents.size(), {}};
        for (std::size_t r = 1; r < parents.size(); ++r) {
            edges.edges.emplace_back(name[parents[r]], name[r]);
        }
        const auto graph = test::as_vector_graph(edges);
        const auto indexed = index_tree(graph, name[0]);
        REQUIRE(ranges::equal(indexed.index.parents(), parents));
        for (id r = 0; r < parents.size(); ++r) {
            REQUIRE(indexed.vertex[r] == name[r]);
            REQUIRE(indexed.rank[name[r]] == r);
        }
        const auto list = test::as_list_graph(edges);
        auto root = vertices(list).first;
        std::advance(root, static_cast<std::ptrdiff_t>(name[0]));
        const auto by_list = index_tree(list, *root);
        REQUIRE(ranges::equal(by_list.index.parents(), parents));
        REQUIRE(by_list.rank == indexed.rank);
    }
}

} // namespace test::core_tree_index
