// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/disjoint_sets.hpp>

#include "../../catch.hpp"

namespace test::core_detail_disjoint_sets {

TEST_CASE("disjoint_sets: joined numbers have their lowest in common") {
    stemma::detail::disjoint_sets sets(6);
    CHECK(sets.find(5) == 5);
    sets.join(5, 3);
    sets.join(4, 1);
    CHECK(sets.find(5) == 3);
    CHECK(sets.find(1) == 1);
    sets.join(5, 4);
    sets.join(3, 1);
    CHECK(sets.find(5) == 1);
    CHECK(sets.find(3) == 1);
    CHECK(sets.find(0) == 0);
    CHECK(sets.find(2) == 2);
}

} // namespace test::core_detail_disjoint_sets
