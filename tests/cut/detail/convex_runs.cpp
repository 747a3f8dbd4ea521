// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/convex_runs.hpp>

#include "../../catch.hpp"
#include "../../vertex_set_scene.hpp"

#include <algorithm>
#include <vector>

namespace test::cut_detail_convex_runs {

namespace {

using stemma::id;
using stemma::no_id;

} // namespace

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

} // namespace test::cut_detail_convex_runs
