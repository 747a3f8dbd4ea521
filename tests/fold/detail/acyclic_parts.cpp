// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/acyclic_parts.hpp>

#include "../../catch.hpp"
#include "../../graph_with_edges.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/topological_order.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace test::fold_detail_acyclic_parts {

namespace {

using stemma::id;
using stemma::no_id;

using pairs = vertex_pairs;

stemma::detail::induced_edges edges_of(std::size_t count, const pairs& from_to) {
    const auto graph = graph_with_edges(count, from_to);
    std::vector<id> all(count);
    for (id v = 0; v < count; ++v) {
        all[v] = v;
    }
    std::vector<id> place(count, no_id);
    return stemma::detail::find_induced_edges(graph, std::span<const id>(all), place);
}

/// Whether contracting vertices with equal numbers leaves no cycle.
bool contracts(std::size_t count, const pairs& from_to, const std::vector<id>& number) {
    std::map<id, id> unit_of;
    std::vector<id> unit(count);
    for (id v = 0; v < count; ++v) {
        const auto key = number[v] == no_id ? no_id - 1 - v : number[v];
        unit[v] = unit_of.try_emplace(key, static_cast<id>(unit_of.size())).first->second;
    }
    pairs between;
    for (const auto& [from, to] : from_to) {
        if (unit[from] != unit[to]) {
            between.emplace_back(unit[from], unit[to]);
        }
    }
    return stemma::topological_order(graph_with_edges(unit_of.size(), between)).size() ==
           unit_of.size();
}

} // namespace

TEST_CASE("acyclic_parts: a convex group is one part, one that is left and reentered is two") {
    const pairs chain{{0, 1}, {1, 2}, {2, 3}};
    const auto halves =
        stemma::detail::acyclic_parts(edges_of(4, chain), std::vector<id>{0, 0, 1, 1});
    CHECK(halves[0] == halves[1]);
    CHECK(halves[1] != halves[2]);
    CHECK(halves[2] == halves[3]);
    const auto parts =
        stemma::detail::acyclic_parts(edges_of(4, chain), std::vector<id>{0, 1, 1, 0});
    CHECK(parts[0] != parts[3]);
    CHECK(parts[1] == parts[2]);
    CHECK(stemma::detail::acyclic_parts(edges_of(4, chain),
                                        std::vector<id>{0, no_id, no_id, 0})[0] != no_id);
}

TEST_CASE("acyclic_parts: one of two convex groups that feed each other is divided") {
    // 0 -> 1 and 2 -> 3, with 0 and 3 in one group, 1 and 2 in the other.
    const pairs crossed{{0, 1}, {2, 3}};
    const std::vector<id> group{0, 1, 1, 0};
    REQUIRE_FALSE(contracts(4, crossed, group));
    const auto parts = stemma::detail::acyclic_parts(edges_of(4, crossed), group);
    CHECK(contracts(4, crossed, parts));
    CHECK(std::set<id>(parts.begin(), parts.end()).size() == 3);
}

TEST_CASE("acyclic_parts: a group after a knot stays whole even if half of it could run earlier") {
    // 0 and 2 are one group around 1; 3 needs nothing, 4 needs the knot.
    const pairs from_to{{0, 1}, {1, 2}, {2, 4}};
    const auto parts =
        stemma::detail::acyclic_parts(edges_of(5, from_to), std::vector<id>{0, no_id, 0, 1, 1});
    CHECK(parts[3] == parts[4]);
    CHECK(parts[0] != parts[2]);
}

TEST_CASE(
    "acyclic_parts: parts refine groups, can be contracted, and no group is divided needlessly") {
    test::random_numbers random(7);
    for (int round = 0; round < 400; ++round) {
        const std::size_t count = 1 + random(24);
        const std::size_t groups = 1 + random(6);
        pairs from_to;
        for (auto edges = random(3 * count); edges > 0; --edges) {
            const auto a = static_cast<id>(random(count));
            const auto b = static_cast<id>(random(count));
            if (a != b) {
                from_to.emplace_back(std::min(a, b), std::max(a, b));
            }
        }
        std::vector<id> group(count, no_id);
        for (auto& g : group) {
            g = random.one_in(4) ? no_id : static_cast<id>(random(groups));
        }
        const auto parts = stemma::detail::acyclic_parts(edges_of(count, from_to), group);
        REQUIRE(contracts(count, from_to, parts));
        std::map<id, id> group_of;
        for (id v = 0; v < count; ++v) {
            REQUIRE((parts[v] == no_id) == (group[v] == no_id));
            if (parts[v] != no_id) {
                REQUIRE(group_of.try_emplace(parts[v], group[v]).first->second == group[v]);
            }
        }
        for (id number = 0; number < group_of.size(); ++number) {
            CHECK(group_of.count(number) == 1);
        }
        const bool whole =
            group_of.size() == std::set<id>(group.begin(), group.end()).size() -
                                   (std::count(group.begin(), group.end(), no_id) > 0);
        if (contracts(count, from_to, group)) {
            CHECK(whole);
        } else {
            CHECK_FALSE(whole);
        }
    }
}

TEST_CASE("acyclic_parts: a long chain of groups needs no deep stack") {
    constexpr id count = 300'000;
    pairs chain;
    std::vector<id> group(count);
    for (id v = 0; v < count; ++v) {
        group[v] = v / 2;
        if (v > 0) {
            chain.emplace_back(v - 1, v);
        }
    }
    CHECK(stemma::detail::acyclic_parts(edges_of(count, chain), group).size() == count);
}

} // namespace test::fold_detail_acyclic_parts
