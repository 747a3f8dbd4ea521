// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/id_ranges.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>

#include <range/v3/algorithm/equal.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>

#include <type_traits>
#include <vector>

namespace test::core_detail_id_ranges {

using stemma::id;
using stemma::detail::consecutive_ids;
using stemma::detail::id_iterator;
using stemma::detail::linked_ids;

static_assert(ranges::random_access_range<consecutive_ids>);
static_assert(ranges::sized_range<consecutive_ids>);
static_assert(ranges::view_<consecutive_ids>);
static_assert(ranges::forward_range<linked_ids>);
static_assert(!ranges::bidirectional_range<linked_ids>);
static_assert(ranges::view_<linked_ids>);
static_assert(std::is_trivially_copyable_v<linked_ids>);
#if defined(__cpp_lib_ranges)
static_assert(std::ranges::random_access_range<consecutive_ids>);
static_assert(std::ranges::view<consecutive_ids>);
static_assert(std::ranges::forward_range<linked_ids>);
static_assert(std::ranges::view<linked_ids>);
#endif

TEST_CASE("id_range: consecutive ids are a range like a vector of them", "[core][id_ranges]") {
    const consecutive_ids ids(id_iterator(3), id_iterator(8));
    const std::vector<id> expected{3, 4, 5, 6, 7};
    CHECK(ranges::equal(ids, expected));
    CHECK(ids.size() == 5);
    CHECK_FALSE(ids.empty());
    CHECK(ids.begin()[2] == 5);
    CHECK(*(2 + ids.begin()) == 5);
    CHECK(*(ids.end() - 1) == 7);
    CHECK(ids.end() - ids.begin() == 5);
    CHECK(ids.begin() < ids.end());
    CHECK(ranges::equal(ids | ranges::views::reverse | ranges::views::take(2),
                        std::vector<id>{7, 6}));
    CHECK(consecutive_ids().empty());
}

TEST_CASE("id_range: ids follow a table, and compose with views", "[core][id_ranges]") {
    const std::vector<id> next{3, 9, 9, 4, 5, 0};
    const linked_ids ids({next.data(), 0}, {next.data(), 5});
    CHECK(ranges::equal(ids, std::vector<id>{0, 3, 4}));
    auto even = ids | ranges::views::filter([](id i) { return i % 2 == 0; }) |
                ranges::views::transform([](id i) { return i * 10; });
    CHECK((even | ranges::to<std::vector>) == std::vector<id>{0, 40});
    CHECK(ids.begin() == ids.begin());
    auto it = ids.begin();
    CHECK(*it++ == 0);
    CHECK(*it == 3);
    CHECK(linked_ids().empty());
}

} // namespace test::core_detail_id_ranges
