// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/fold_graph.hpp>

#include "../catch.hpp"
#include "../random_numbers.hpp"

#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

namespace test::report_fold_graph {

namespace {

using stemma::id;

struct scene {
    stemma::tree_index tree;
    std::vector<id> module;
    std::vector<bool> shown;
    std::vector<stemma::operator_edge> edges;
    stemma::operator_graph graph;
};

scene random_scene(unsigned seed) {
    test::random_numbers random(seed);
    scene sample;
    std::vector<id> parents{stemma::no_id};
    std::vector<id> way{0}; // from the root to the last module, so that ranks are preorder
    for (id m = 1; m < 12; ++m) {
        way.resize(1 + random(way.size()));
        parents.push_back(way.back());
        way.push_back(m);
    }
    sample.tree = stemma::tree_index(parents);
    constexpr id count = 80;
    for (id v = 0; v < count; ++v) {
        sample.module.push_back(static_cast<id>(random(parents.size())));
        sample.shown.push_back(!random.one_in(6));
        for (auto n = v == 0 ? 0 : random(4); n-- > 0;) {
            const auto from = static_cast<id>(random(v));
            sample.edges.push_back({from, v, static_cast<id>(2 * from + random(2)), 0, 0});
        }
    }
    sample.graph = stemma::operator_graph(count, sample.edges);
    return sample;
}

struct edge {
    id from = 0;
    id to = 0;
};

} // namespace

TEST_CASE("fold_graph: boxes contain every shown operator once, in their module", "[fold_graph]") {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        const auto s = random_scene(seed);
        for (const std::size_t most : {2U, 5U, 20U, 40U, 1000U}) {
            for (const id root : {0U, 1U, 5U}) {
                const auto folded = stemma::fold_graph(s.graph, s.tree, s.module, s.shown,
                                                       {root, stemma::no_id, most});
                std::vector<std::size_t> counts(folded.boxes.size());
                for (id v = 0; v < s.module.size(); ++v) {
                    const bool wanted = s.shown[v] && s.tree.is_ancestor(root, s.module[v]);
                    REQUIRE((folded.box_of[v] != stemma::no_id) == wanted);
                    if (!wanted) {
                        continue;
                    }
                    const auto& box = folded.boxes[folded.box_of[v]];
                    ++counts[folded.box_of[v]];
                    CHECK(folded.open[box.around]);
                    if (box.kind == stemma::folded_graph::box_kind::one_operator) {
                        CHECK(box.of == v);
                        CHECK(box.around == s.module[v]);
                    } else if (box.kind == stemma::folded_graph::box_kind::closed_module) {
                        CHECK_FALSE(folded.open[box.of]);
                        CHECK(s.tree.parent(box.of) == box.around);
                        CHECK(s.tree.is_ancestor(box.of, s.module[v]));
                    }
                }
                for (std::size_t b = 0; b < counts.size(); ++b) {
                    CHECK(counts[b] == folded.boxes[b].operators);
                    CHECK(counts[b] > 0);
                }
                CHECK(folded.boxes.size() <= most);
            }
        }
    }
}

TEST_CASE("fold_graph: edges are those between operators of different boxes", "[fold_graph]") {
    for (unsigned seed = 1; seed <= 10; ++seed) {
        const auto s = random_scene(seed);
        const auto folded =
            stemma::fold_graph(s.graph, s.tree, s.module, s.shown, {0, stemma::no_id, 20});
        std::set<std::tuple<id, id, id>> wanted;
        for (const auto& e : s.edges) {
            const auto from = folded.box_of[e.source];
            const auto to = folded.box_of[e.target];
            if (from != to && from != stemma::no_id && to != stemma::no_id) {
                wanted.emplace(from, to, e.value);
            }
        }
        std::size_t values = 0;
        std::set<std::pair<id, id>> pairs;
        for (const auto& edge : folded.edges) {
            CHECK(wanted.count({edge.from, edge.to, edge.value}) == 1);
            CHECK(pairs.emplace(edge.from, edge.to).second);
            values += edge.values;
        }
        CHECK(values == wanted.size());
    }
}

TEST_CASE("fold_graph: opens as many levels as requested and fit", "[fold_graph]") {
    const stemma::tree_index tree({stemma::no_id, 0, 1, 1, 0});
    const std::vector<id> module{0, 2, 3, 3, 4};
    const std::vector<bool> shown(module.size(), true);
    const stemma::operator_graph graph(module.size(), std::vector<stemma::operator_edge>{});
    const auto boxes = [&](id depth, std::size_t most) {
        return stemma::fold_graph(graph, tree, module, shown, {0, depth, most}).boxes.size();
    };
    CHECK(boxes(0, 100) == 3);             // the operator of the root, modules 1 and 4
    CHECK(boxes(1, 100) == 4);             // 2, 3, and the operator in 4
    CHECK(boxes(stemma::no_id, 100) == 5); // all operators
    CHECK(boxes(stemma::no_id, 4) == 4);   // one level less
    CHECK(boxes(stemma::no_id, 2) == 2);   // one module, and the rest
}

TEST_CASE("fold_graph: edges lead to later boxes, except in cycles", "[fold_graph]") {
    // Module 1 has the last node and the first one that is not shown, module 2 what is between.
    const stemma::tree_index tree({stemma::no_id, 0, 0});
    const std::vector<id> module{1, 2, 2, 1};
    const std::vector<bool> shown{false, true, true, true};
    const std::vector<stemma::operator_edge> edges{
        {0, 3, 0, 0, 0}, {1, 2, 1, 0, 0}, {2, 3, 2, 0, 0}};
    const stemma::operator_graph graph(module.size(), edges);
    const auto folded = stemma::fold_graph(graph, tree, module, shown, {0, 0, 60});
    REQUIRE(folded.boxes.size() == 2);
    CHECK(folded.boxes[0].of == 2);
    CHECK(folded.boxes[1].of == 1);
    for (unsigned seed = 1; seed <= 30; ++seed) {
        const auto s = random_scene(seed);
        std::vector<bool> quiet;
        for (std::size_t v = 0; v < s.module.size(); ++v) {
            quiet.push_back(v % 3 == 0);
        }
        // All open, so that the graph of boxes has no cycle: joining what is quiet makes none.
        const auto open =
            stemma::fold_graph(s.graph, s.tree, s.module, s.shown, {0, stemma::no_id, 1000}, quiet);
        for (const auto& edge : open.edges) {
            CHECK(edge.from < edge.to);
        }
        std::vector<std::size_t> counts(open.boxes.size());
        for (id v = 0; v < s.module.size(); ++v) {
            if (open.box_of[v] != stemma::no_id) {
                const auto& box = open.boxes[open.box_of[v]];
                ++counts[open.box_of[v]];
                CHECK((box.kind != stemma::folded_graph::box_kind::shape_arithmetic ||
                       (quiet[v] && box.around == s.module[v] && box.operators > 1)));
            }
        }
        for (std::size_t b = 0; b < counts.size(); ++b) {
            CHECK(counts[b] == open.boxes[b].operators);
        }
    }
}

TEST_CASE("fold_graph: if space is short, modules get boxes before operators", "[fold_graph]") {
    const stemma::tree_index tree({stemma::no_id, 0, 0});
    const std::vector<id> module{0, 0, 0, 0, 1, 2};
    const std::vector<bool> shown(module.size(), true);
    const stemma::operator_graph graph(module.size(), std::vector<stemma::operator_edge>{});
    const auto folded = stemma::fold_graph(graph, tree, module, shown, {0, stemma::no_id, 4});
    std::vector<stemma::folded_graph::box_kind> kinds;
    for (const auto& box : folded.boxes) {
        kinds.push_back(box.kind);
    }
    using stemma::folded_graph;
    CHECK(std::count(kinds.begin(), kinds.end(), folded_graph::box_kind::closed_module) == 2);
    CHECK(std::count(kinds.begin(), kinds.end(), folded_graph::box_kind::one_operator) == 1);
    REQUIRE(kinds.back() == folded_graph::box_kind::rest);
    CHECK(folded.boxes.back().operators == 3);
}

TEST_CASE("fold_graph: connected shape arithmetic is one box, unless data lie between",
          "[fold_graph]") {
    // 0 -> 1 -> 2 -> 3 -> 4 -> 5, of which 1, 2, 4 and 5 are quiet.
    const stemma::tree_index tree({stemma::no_id});
    const std::vector<id> module(6, 0);
    const std::vector<bool> shown(6, true);
    std::vector<stemma::operator_edge> edges;
    for (id v = 0; v < 5; ++v) {
        edges.push_back({v, v + 1, v, 0, 0});
    }
    edges.push_back({2, 4, 2, 0, 0}); // they touch, and data lead from one to the other
    const stemma::operator_graph graph(module.size(), edges);
    const auto folded =
        stemma::fold_graph(graph, tree, module, shown, {}, {false, true, true, false, true, true});
    REQUIRE(folded.boxes.size() == 4);
    CHECK(folded.box_of == std::vector<id>{0, 1, 1, 2, 3, 3});
    CHECK(folded.boxes[1].kind == stemma::folded_graph::box_kind::shape_arithmetic);
    CHECK(folded.boxes[3].kind == stemma::folded_graph::box_kind::shape_arithmetic);
    CHECK(folded.boxes[1].operators == 2);
}

TEST_CASE("find_levels: edges lead down, except within a cycle") {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        test::random_numbers random(seed);
        constexpr id count = 30;
        std::vector<edge> edges;
        for (id from = 0; from < count; ++from) {
            for (auto n = random(3); n-- > 0;) {
                edges.push_back({from, static_cast<id>(random(count))});
            }
        }
        const auto levels =
            stemma::detail::find_levels(count, edges, std::vector<bool>(count, true));
        for (const auto& [from, to] : edges) {
            if (levels.component[from] == levels.component[to]) {
                CHECK(levels.level[from] == levels.level[to]);
            } else {
                CHECK(levels.level[from] < levels.level[to]);
            }
        }
        for (const auto component : levels.component) {
            CHECK(levels.members[component] >= 1);
        }
    }
}

TEST_CASE("find_levels: a weightless box is at the level of its producer") {
    const std::vector<edge> edges{{0, 1}, {1, 2}, {2, 3}};
    const auto levels =
        stemma::detail::find_levels(4, edges, std::vector<bool>{true, false, false, true});
    CHECK(levels.level == std::vector<id>{0, 1, 1, 1});
    CHECK(stemma::detail::find_levels(0, std::vector<edge>{}, {}).level.empty());
}

} // namespace test::report_fold_graph
