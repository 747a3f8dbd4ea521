// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/ranked_ids.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <vector>

namespace test::core_detail_ranked_ids {

using stemma::id;
using stemma::detail::ranked_ids;

TEST_CASE("ranked_ids: an empty set has no members") {
    CHECK(ranked_ids().count() == 0);
    ranked_ids none(1);
    CHECK(none.count() == 0);
    CHECK_FALSE(none.contains(0));
    CHECK(none.rank(0) == 0);
}

TEST_CASE("ranked_ids: a member counts once, however often it was inserted") {
    ranked_ids ids(200);
    for (const id x : {199U, 0U, 64U, 63U, 64U, 128U}) {
        ids.insert(x);
    }
    REQUIRE(ids.count() == 5);
    CHECK(ids.rank(0) == 0);
    CHECK(ids.rank(63) == 1);
    CHECK(ids.rank(64) == 2);
    CHECK(ids.rank(65) == 3);
    CHECK(ids.rank(199) == 4);
    CHECK(ids.contains(128));
    CHECK_FALSE(ids.contains(127));
}

TEST_CASE("ranked_ids: agrees with a table by id") {
    test::random_numbers random(11);
    for (int round = 0; round < 60; ++round) {
        const auto bound = 1 + random(700);
        const auto rarity = 1 + random(90);
        ranked_ids ids(bound);
        std::vector<bool> expected(bound);
        for (id x = 0; x < bound; ++x) {
            if (random.one_in(rarity)) {
                expected[x] = true;
                ids.insert(x);
            }
        }
        id members = 0;
        static_cast<void>(ids.count());
        for (id x = 0; x < bound; ++x) {
            REQUIRE(ids.contains(x) == expected[x]);
            REQUIRE(ids.rank(x) == members);
            members += expected[x] ? 1U : 0U;
        }
        CHECK(ids.count() == members);
    }
}

} // namespace test::core_detail_ranked_ids
