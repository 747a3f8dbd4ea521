// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/find_reentry.hpp>

#include "../../catch.hpp"
#include "../../random_dags.hpp"
#include "../../vertex_set_scene.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace test::cut_detail_find_reentry {

namespace {

using stemma::id;
using stemma::no_id;

} // namespace

TEST_CASE("find_reentry: finds a path out and back iff there is one", "[algorithm][find_reentry]") {
    test::for_random_vertex_sets([](const test::vertex_set_scene& s) {
        const auto path = stemma::detail::find_reentry(s.dag.graph, s.set, s.stretch());
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

TEST_CASE("find_gaps: adding exactly the gaps makes a set convex", "[algorithm][find_gaps]") {
    std::size_t gaps = 0;
    test::for_random_vertex_sets([&](test::vertex_set_scene s) {
        const auto vertices = stemma::detail::find_gaps(s.dag.graph, s.set, s.stretch());
        gaps += vertices.size();
        for (id v = 0; v < s.rank.size(); ++v) {
            bool from = false;
            bool to = false;
            for (auto m : s.members) {
                from = from || (!s.set.apart[m] && s.reaches[m][v]);
                to = to || (!s.set.apart[m] && s.reaches[v][m]);
            }
            const bool between = s.set.is_outside(v) && from && to;
            CHECK((std::find(vertices.begin(), vertices.end(), v) != vertices.end()) == between);
        }
        for (auto v : vertices) {
            s.set.inside[v] = true;
        }
        CHECK_FALSE(test::leads_out_and_back(s.reaches, s.set.inside, s.set.apart));
    });
    CHECK(gaps > 0);
}

TEST_CASE("convex_runs: runs are convex, cover the set, and are minimal in number",
          "[algorithm][convex_runs]") {
    test::for_random_vertex_sets([](const test::vertex_set_scene& s) {
        const auto stretch = s.stretch();
        const auto run = stemma::detail::convex_runs(s.dag.graph, s.set, stretch);
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

TEST_CASE("find_way_back: paths lead through copies that depend on members",
          "[algorithm][find_way_back]") {
    test::for_random_vertex_sets([](test::vertex_set_scene s) {
        const std::vector<bool> none(s.rank.size(), false);
        const auto reaches = test::reachability_around(s.dag.edges, none);
        for (std::size_t v = 0; v < s.rank.size(); ++v) {
            const auto leads_in = [&](auto m) { return reaches[v][m] != 0; };
            s.set.apart[v] = s.set.apart[v] && !s.set.inside[v] &&
                             std::any_of(s.members.begin(), s.members.end(), leads_in);
        }
        const auto before = s.set;
        const auto returns = [&](stemma::dependence pulled) {
            const auto path = stemma::detail::find_way_back(stemma::standard_cut{pulled},
                                                            s.dag.graph, s.set, s.stretch());
            CHECK((path.empty() || s.set.inside[path.front()]));
            CHECK(s.set.inside == before.inside);
            CHECK(s.set.apart == before.apart);
            return !path.empty();
        };
        const auto leads_back = [&](const auto& by) {
            return test::leads_out_and_back(by, s.set.inside, s.set.apart);
        };
        CHECK(returns(stemma::dependence::weight) ==
              leads_back(test::reachability_around(s.dag.edges, s.set.apart)));
        CHECK(returns(stemma::dependence::shape) == leads_back(reaches));
    });
}

} // namespace test::cut_detail_find_reentry
