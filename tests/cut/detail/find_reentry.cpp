// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/find_reentry.hpp>

#include "../../catch.hpp"
#include "../../vertex_set_scene.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace test::cut_detail_find_reentry {

namespace {} // namespace

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

} // namespace test::cut_detail_find_reentry
