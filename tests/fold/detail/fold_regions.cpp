// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_regions.hpp>

#include "../../catch.hpp"
#include "../../graph_with_edges.hpp"
#include "../../random_numbers.hpp"

#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace test::fold_detail_fold_regions {

namespace {

using pairs = vertex_pairs;
using stemma::id;
using stemma::no_id;

struct scene {
    stemma::tree_index modules;
    std::vector<id> module;
    pairs edges;
    std::vector<id> call{};
    std::vector<bool> constant{};
    std::size_t least = 1;
    id top = 0;

    [[nodiscard]] stemma::detail::fold_regions_result fold() const {
        std::vector<id> order(module.size());
        std::iota(order.begin(), order.end(), id{0});
        return stemma::detail::fold_regions(
            graph_with_edges(module.size(), edges), std::span<const id>(order),
            stemma::detail::folded_modules(modules, [](id m) { return m != 0; }),
            std::span<const id>(module), top, least,
            [&](id, id v) { return call.empty() ? 0 : call[v]; },
            [&](id v) { return !constant.empty() && constant[v]; });
    }
};

/// All operators of a region and those inside, in the order in which they run.
void flatten(const stemma::detail::fold_regions_result& result, id region, std::vector<id>& out) {
    for (const auto& item : result.regions[region].items) {
        item.is_region ? flatten(result, item.index, out) : out.push_back(item.index);
    }
}

std::vector<id> operators_of(const stemma::detail::fold_regions_result& result, id region = 0) {
    std::vector<id> all;
    flatten(result, region, all);
    return all;
}

} // namespace

TEST_CASE("fold_regions: regions nest like modules") {
    // Module 1 holds 2 and 3.
    const scene s{stemma::tree_index({no_id, 0, 1, 1}),
                  {0, 2, 2, 3, 1, 0},
                  {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}};
    const auto folded = s.fold();
    REQUIRE(folded.regions.size() == 4);
    CHECK(folded.regions[0].items ==
          std::vector<stemma::detail::fold_item>{{0, false}, {1, true}, {5, false}});
    CHECK(folded.regions[1].module == 1);
    CHECK(folded.regions[1].items ==
          std::vector<stemma::detail::fold_item>{{2, true}, {3, true}, {4, false}});
    CHECK(folded.regions[1].end == 4);
    CHECK(folded.regions[1].operators == 4);
    CHECK(folded.regions[2].parent == 1);
    CHECK(folded.left.empty());
}

TEST_CASE("fold_regions: every call is a region, even if only neighbours determine it") {
    const scene s{stemma::tree_index({no_id, 0}),
                  {1, 1, 0, 1, 1},
                  {{0, 1}, {1, 2}, {2, 3}, {3, 4}},
                  {0, no_id, 0, no_id, 1}};
    const auto folded = s.fold();
    REQUIRE(folded.regions.size() == 3);
    CHECK(folded.regions[1].call == 0);
    CHECK(folded.regions[2].call == 1);
    CHECK(operators_of(folded, 2) == std::vector<id>{3, 4});
}

TEST_CASE(
    "fold_regions: a module that is left and entered becomes runs, small ones stay in place") {
    scene s{stemma::tree_index({no_id, 0, 0}), {1, 1, 2, 1}, {{0, 1}, {1, 2}, {2, 3}}};
    const auto all = s.fold();
    REQUIRE(all.regions.size() == 4);
    CHECK(all.regions[1].runs == 2);
    CHECK(all.regions[1].run == 0);
    CHECK(all.regions[3].run == 1);
    s.least = 2;
    const auto large = s.fold();
    CHECK(large.regions.size() == 2);
    CHECK(operators_of(large) == std::vector<id>{0, 1, 2, 3});
    REQUIRE(large.left.size() == 2);
    CHECK(large.left[1].module == 1);
    CHECK(large.left[1].runs == 2);
}

TEST_CASE("fold_regions: a constant that several regions read belongs to none of them") {
    scene s{stemma::tree_index({no_id, 0, 0}), {1, 1, 2, 1}, {{0, 1}, {0, 2}, {1, 2}, {2, 3}}};
    CHECK(operators_of(s.fold(), 1) == std::vector<id>{0, 1});
    s.constant = {true, false, false, false};
    CHECK(operators_of(s.fold(), 1) == std::vector<id>{1});
    // One that only its own module reads stays.
    s.edges = {{0, 1}, {1, 2}};
    s.module = {1, 1, 2, 2};
    CHECK(operators_of(s.fold(), 1) == std::vector<id>{0, 1});
}

TEST_CASE("fold_regions: operators run in a valid order, each once, inside their module") {
    test::random_numbers random(3);
    for (int round = 0; round < 300; ++round) {
        const std::size_t modules = 1 + random(8);
        std::vector<id> parents{no_id};
        std::vector<id> open{0};
        while (parents.size() < modules) { // a tree in preorder
            while (open.size() > 1 && random.one_in(3)) {
                open.pop_back();
            }
            parents.push_back(open.back());
            open.push_back(static_cast<id>(parents.size() - 1));
        }
        scene s{stemma::tree_index(parents), {}, {}};
        const std::size_t count = random(30);
        for (std::size_t v = 0; v < count; ++v) {
            s.module.push_back(static_cast<id>(random(modules)));
            s.call.push_back(random.one_in(3) ? no_id : static_cast<id>(random(2)));
            s.constant.push_back(random.one_in(5));
            for (auto edges = random(3); v > 0 && edges > 0; --edges) {
                s.edges.emplace_back(static_cast<id>(random(v)), static_cast<id>(v));
            }
        }
        s.least = 1 + random(3);
        const auto folded = s.fold();
        auto all = operators_of(folded);
        std::vector<std::size_t> place(count);
        for (std::size_t i = 0; i < all.size(); ++i) {
            place[all[i]] = i;
        }
        for (const auto& [from, to] : s.edges) {
            REQUIRE(place[from] < place[to]);
        }
        std::sort(all.begin(), all.end());
        std::vector<id> expected(count);
        std::iota(expected.begin(), expected.end(), id{0});
        REQUIRE(all == expected);
        for (id r = 1; r < folded.regions.size(); ++r) {
            const auto& region = folded.regions[r];
            const auto inside = operators_of(folded, r);
            CHECK(inside.size() == region.operators);
            CHECK(inside.size() >= s.least);
            CHECK(region.parent < r);
            CHECK(s.modules.is_ancestor(folded.regions[region.parent].module, region.module));
            for (auto v : inside) {
                CHECK(s.modules.is_ancestor(region.module, s.module[v]));
            }
        }
    }
}

TEST_CASE("fold_regions: a graph in a module has regions of its descendants only") {
    // 1 contains 2, and 3 is beside it.
    scene body{stemma::tree_index({no_id, 0, 1, 0}), {1, 2, 2, 3, 3, 0}, {{0, 1}, {1, 2}, {3, 4}}};
    body.top = 1;
    const auto folded = body.fold();
    REQUIRE(folded.regions.size() == 2);
    CHECK(folded.regions[0].module == 1);
    CHECK(folded.regions[1].module == 2);
    CHECK(operators_of(folded, 1) == std::vector<id>{1, 2});
    CHECK(folded.regions[0].operators == 6);
}

TEST_CASE("find_places: the region of each operator") {
    const auto folded = scene{stemma::tree_index({no_id, 0, 1}), {0, 1, 2, 0}, {}}.fold();
    REQUIRE(folded.regions.size() == 3);
    CHECK(stemma::detail::find_places(folded.regions, 4) == std::vector<id>{0, 1, 2, 0});
}

TEST_CASE("holds_region: a region contains itself and nested ones") {
    std::vector<stemma::detail::fold_region> regions(4);
    regions[0].end = 4;
    regions[1].end = 3;
    regions[2].end = 3;
    regions[3].end = 4;
    for (id r = 0; r < 4; ++r) {
        CHECK(stemma::detail::holds_region(regions, 0, r));
        CHECK(stemma::detail::holds_region(regions, r, r));
        CHECK(stemma::detail::holds_region(regions, 1, r) == (r == 1 || r == 2));
    }
}

TEST_CASE("folded_modules: the enclosing folded module follows from the ancestors") {
    test::random_numbers random(3);
    for (int round = 0; round < 50; ++round) {
        std::vector<id> parent{no_id};
        for (id m = 1; m < 40; ++m) { // in preorder: on the way from the last one up
            auto above = m - 1;
            for (auto up = random(4); up > 0 && above != 0; --up) {
                above = parent[above];
            }
            parent.push_back(above);
        }
        const stemma::tree_index tree(parent);
        std::vector<bool> asked(parent.size());
        for (id m = 0; m < asked.size(); ++m) {
            asked[m] = random.one_in(2);
        }
        const stemma::detail::folded_modules folded(tree, [&](id m) { return asked[m]; });
        for (id m = 0; m < parent.size(); ++m) {
            std::vector<id> way; // those that fold, from the inside to the outside
            for (auto up = m; up != 0; up = parent[up]) {
                if (asked[up]) {
                    way.push_back(up);
                }
            }
            CHECK(folded.folds(m) == (m != 0 && asked[m]));
            CHECK(folded.innermost(m) == (way.empty() ? no_id : way.front()));
            CHECK(folded.next_below(0, m) == (way.empty() ? no_id : way.back()));
            for (id top = 1; top < parent.size(); ++top) {
                if (!asked[top]) {
                    continue;
                }
                id expected = no_id;
                for (auto around : way) {
                    expected = around != top && tree.is_ancestor(top, around) ? around : expected;
                }
                CHECK(folded.next_below(top, m) == expected);
            }
        }
    }
}

TEST_CASE("folded_modules: in a chain only the outer ones fold") {
    std::vector<id> parent(200);
    std::iota(parent.begin(), parent.end(), no_id); // the root's is `no_id`
    const stemma::tree_index tree(parent);
    const stemma::detail::folded_modules folded(tree, [](id) { return true; });
    const auto depth = stemma::detail::folded_modules::max_depth;
    CHECK_FALSE(folded.folds(0));
    CHECK(folded.folds(1));
    CHECK(folded.folds(depth));
    CHECK_FALSE(folded.folds(depth + 1));
    CHECK(folded.innermost(199) == depth);
    CHECK(folded.next_below(0, 199) == 1);
    CHECK(folded.next_below(depth, 199) == no_id);
}

} // namespace test::fold_detail_fold_regions
