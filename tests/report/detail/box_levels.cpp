// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/detail/box_levels.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <algorithm>
#include <vector>

namespace test::report_detail_box_levels {

namespace {

using stemma::id;

struct edge {
    id from = 0;
    id to = 0;
};

} // namespace

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

} // namespace test::report_detail_box_levels
