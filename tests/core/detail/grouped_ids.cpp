// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/grouped_ids.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace test::core_detail_grouped_ids {

using stemma::id;
using stemma::detail::grouped_ids;

TEST_CASE("grouped_ids: no groups, no members") {
    CHECK(grouped_ids().size() == 0);
    CHECK(grouped_ids().range(0, 0).empty());
    CHECK(grouped_ids(0, [](auto) {}).size() == 0);
}

TEST_CASE("grouped_ids: every group has its members in insertion order") {
    test::random_numbers random(7);
    for (int round = 0; round < 50; ++round) {
        const auto count = 1 + random(9);
        std::vector<std::vector<id>> expected(count);
        std::vector<std::pair<id, id>> all;
        for (auto i = random(40); i-- > 0;) {
            const auto group = static_cast<id>(random(count));
            const auto member = static_cast<id>(random(1000));
            all.emplace_back(group, member);
            expected[group].push_back(member);
        }
        const grouped_ids grouped(count, [&](auto take) {
            for (const auto& [group, member] : all) {
                take(group, member);
            }
        });
        REQUIRE(grouped.size() == count);
        std::vector<id> chained;
        for (std::size_t g = 0; g < count; ++g) {
            const auto members = grouped[g];
            CHECK(std::vector<id>(members.begin(), members.end()) == expected[g]);
            chained.insert(chained.end(), expected[g].begin(), expected[g].end());
            const auto range = grouped.range(0, g + 1);
            CHECK(std::vector<id>(range.begin(), range.end()) == chained);
        }
    }
}

} // namespace test::core_detail_grouped_ids
