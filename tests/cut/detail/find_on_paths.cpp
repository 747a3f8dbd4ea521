// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/find_on_paths.hpp>

#include "../../catch.hpp"
#include "../../vertex_set_scene.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace test::cut_detail_find_on_paths {

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

} // namespace test::cut_detail_find_on_paths
