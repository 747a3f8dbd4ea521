// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/boundary.hpp>

#include "../catch.hpp"
#include "../random_dags.hpp"
#include "../random_graphs.hpp"
#include "../random_numbers.hpp"

#include <boost/graph/adjacency_list.hpp>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace test::cut_boundary {

namespace {

using stemma::id;
using stemma::no_id;

/// A graph, and a set of its vertices.
struct scene {
    test::random_dag dag;
    stemma::vertex_set set;
    std::vector<id> members;
    std::vector<id> rank;
    std::vector<std::vector<char>> reaches;

    scene(test::random_numbers& random, std::size_t vertices)
        : dag(random, vertices, vertices + random(2 * vertices)), set(vertices) {
        for (id v = 0; v < vertices; ++v) {
            set.apart[v] = random.one_in(6);
            set.inside[v] = random.one_in(2);
            if (set.inside[v]) {
                members.push_back(v);
            }
        }
        rank = dag.order;
        reaches = test::reachability_around(dag.edges, set.apart);
    }

    [[nodiscard]] stemma::order_stretch<stemma::operator_graph> stretch() const {
        return {dag.graph, dag.order, rank, members};
    }
};

template <class Function>
void for_random_scenes(Function f) {
    test::random_numbers random(7);
    for (int round = 0; round < 2000; ++round) {
        f(scene(random, 1 + random(14)));
    }
}

} // namespace

TEST_CASE("find_boundary: every value that crosses the boundary, once", "[algorithm][boundary]") {
    for_random_scenes([](const scene& s) {
        std::set<id> in;
        std::set<id> out;
        for (auto [from, to] : s.dag.edges.edges) {
            if (s.set.is_outside(from) && s.set.is_inside(to)) {
                in.insert(static_cast<id>(from));
            }
            if (s.set.is_inside(from) && s.set.is_outside(to)) {
                out.insert(static_cast<id>(from));
            }
        }
        const auto found =
            stemma::find_boundary(s.dag.graph, s.set, std::span<const id>(s.members));
        const auto values = [&](const auto& edges) {
            std::vector<id> result;
            for (auto e : edges) {
                result.push_back(get(stemma::value_index, s.dag.graph, e));
            }
            return result;
        };
        const auto inputs = values(found.inputs);
        const auto outputs = values(found.outputs);
        CHECK(inputs.size() == in.size());
        CHECK(std::set<id>(inputs.begin(), inputs.end()) == in);
        CHECK(outputs.size() == out.size());
        CHECK(std::set<id>(outputs.begin(), outputs.end()) == out);
        CHECK(std::is_sorted(outputs.begin(), outputs.end())); // in the order of producers
    });
}

TEST_CASE("find_boundary: without value ids, each vertex produces one value",
          "[algorithm][boundary]") {
    const auto graph = test::as_list_graph({3, {{0, 1}, {0, 2}, {1, 2}}});
    stemma::vertex_set set(3);
    set.inside[2] = true;
    std::vector<test::list_graph::vertex_descriptor> members{*std::next(vertices(graph).first, 2)};
    const auto found = stemma::find_boundary(
        graph, set, std::span<const test::list_graph::vertex_descriptor>(members));
    CHECK(found.inputs.size() == 2);
    CHECK(found.outputs.empty());
}

TEST_CASE("find_reentry: finds a path out and back iff there is one", "[algorithm][boundary]") {
    for_random_scenes([](const scene& s) {
        const auto path = stemma::find_reentry(s.dag.graph, s.set, s.stretch());
        REQUIRE(path.empty() == !test::leads_out_and_back(s.reaches, s.set.inside, s.set.apart));
        if (path.empty()) {
            return;
        }
        REQUIRE(path.size() >= 3);
        CHECK(s.set.is_inside(path.front()));
        CHECK(s.set.is_inside(path.back()));
        for (std::size_t i = 0; i + 1 < path.size(); ++i) {
            const std::pair<std::size_t, std::size_t> step(path[i], path[i + 1]);
            CHECK(std::find(s.dag.edges.edges.begin(), s.dag.edges.edges.end(), step) !=
                  s.dag.edges.edges.end());
            CHECK((i == 0 || s.set.is_outside(path[i])));
        }
    });
}

TEST_CASE("convex_runs: runs are convex, cover the set, and are minimal in number",
          "[algorithm][boundary]") {
    for_random_scenes([](const scene& s) {
        const auto stretch = s.stretch();
        const auto run = stemma::convex_runs(s.dag.graph, s.set, stretch);
        id runs = 0;
        for (id v = 0; v < s.dag.order.size(); ++v) {
            const auto place = stretch.place(v);
            if (s.set.is_inside(v)) {
                REQUIRE(place < run.size());
                REQUIRE(run[place] != no_id);
                runs = std::max(runs, run[place] + 1);
            } else if (place < run.size()) {
                CHECK(run[place] == no_id);
            }
        }
        CHECK((runs > 1) == test::leads_out_and_back(s.reaches, s.set.inside, s.set.apart));
        for (id r = 0; r < runs; ++r) {
            std::vector<bool> inside(s.dag.order.size(), false);
            for (auto v : s.members) {
                inside[v] = s.set.is_inside(v) && run[stretch.place(v)] == r;
            }
            CHECK(std::find(inside.begin(), inside.end(), true) != inside.end());
            CHECK_FALSE(test::leads_out_and_back(s.reaches, inside, s.set.apart));
        }
    });
}

TEST_CASE("order_stretch: ranges from the first member to the last", "[algorithm][boundary]") {
    for_random_scenes([](const scene& s) {
        const auto stretch = s.stretch();
        const auto expected = s.members.empty() ? 0U : s.members.back() - s.members.front() + 1;
        CHECK(stretch.vertices().size() == expected);
        for (id v = 0; v < s.dag.order.size(); ++v) {
            const bool within =
                !s.members.empty() && v >= s.members.front() && v <= s.members.back();
            CHECK((stretch.place(v) < stretch.vertices().size()) == within);
            if (within) {
                CHECK(stretch.vertices()[stretch.place(v)] == v);
            }
        }
    });
}

TEST_CASE("quotient_graph: one edge between two parts iff some vertices have one",
          "[algorithm][boundary]") {
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
        const auto graph = stemma::quotient_graph(dag.graph, std::span<const id>(part), 4);
        CHECK(num_vertices(graph) == 4);
        CHECK(num_edges(graph) == expected.size());
        for (auto [it, last] = edges(graph); it != last; ++it) {
            CHECK(expected.count({static_cast<id>(source(*it, graph)),
                                  static_cast<id>(target(*it, graph))}) == 1);
        }
    }
}

TEST_CASE("find_module_boundaries: agrees with find_boundary for each module",
          "[algorithm][boundary]") {
    test::random_numbers random(9);
    for (int round = 0; round < 1000; ++round) {
        const auto size = 1 + random(16);
        const test::random_dag dag(random, size, random(3 * size));
        const auto parents = test::random_parents(random, 1 + random(7), 3);
        const stemma::tree_index modules(parents);
        std::vector<id> module(size);
        std::vector<bool> apart(size);
        std::vector<std::vector<id>> leaving(size);
        for (id v = 0; v < size; ++v) {
            module[v] = static_cast<id>(random(parents.size()));
            apart[v] = random.one_in(6);
            if (random.one_in(5)) {
                leaving[v].push_back(v);
            }
        }
        const auto found = stemma::find_module_boundaries(
            dag.graph, modules, std::span<const id>(module), apart,
            [&](id v) -> const std::vector<id>& { return leaving[v]; });
        for (id m = 0; m < parents.size(); ++m) {
            std::set<id> in;
            std::set<id> out;
            const auto inside = [&](std::size_t v) {
                return module[v] >= m && module[v] < modules.end(m);
            };
            for (auto [from, to] : dag.edges.edges) {
                if (apart[from] || apart[to]) {
                    continue;
                }
                if (!inside(from) && inside(to)) {
                    in.insert(static_cast<id>(from));
                }
                if (inside(from) && !inside(to)) {
                    out.insert(static_cast<id>(from));
                }
            }
            for (id v = 0; v < size; ++v) {
                if (inside(v) && !apart[v] && !leaving[v].empty()) {
                    out.insert(v);
                }
            }
            const auto as_set = [&](const auto& column) {
                const auto values = column[m];
                CHECK(std::set<id>(values.begin(), values.end()).size() == values.size());
                return std::set<id>(values.begin(), values.end());
            };
            CHECK(as_set(found.inputs) == in);
            CHECK(as_set(found.outputs) == out);
        }
    }
}

} // namespace test::cut_boundary
