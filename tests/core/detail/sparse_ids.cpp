// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/sparse_ids.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/id.hpp>

#include <cstddef>
#include <set>

namespace test::core_detail_sparse_ids {

using stemma::id;

TEST_CASE("sparse_ids: report whether an id was missing, like a set") {
    test::random_numbers random(3);
    for (const std::size_t bound : {10U, 1'000U, 1'000'000U, 0xffff'ffffU}) {
        stemma::detail::sparse_ids met;
        std::set<id> expected;
        for (int i = 0; i < 3000; ++i) {
            const auto first = random(bound);
            for (std::size_t member = first; member < first + random(4) + 1; ++member) {
                REQUIRE(met.insert(static_cast<id>(member)) ==
                        expected.insert(static_cast<id>(member)).second);
            }
        }
    }
}

TEST_CASE("sparse_ids: can hold the lowest id and the highest") {
    stemma::detail::sparse_ids met;
    CHECK(met.insert(stemma::no_id));
    CHECK(met.insert(0));
    CHECK(!met.insert(stemma::no_id));
    CHECK(!met.insert(0));
}

} // namespace test::core_detail_sparse_ids
