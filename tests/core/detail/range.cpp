// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/range.hpp>

#include "../../catch.hpp"

#include <string>
#include <utility>
#include <vector>

namespace test::core_detail_range {

namespace range = stemma::detail::range;

namespace {

bool is_even(int i) {
    return i % 2 == 0;
}

} // namespace

TEST_CASE("range: quantifiers over empty ranges follow logic", "[core][range]") {
    const std::vector<int> none;
    CHECK(range::all_of(none, is_even));
    CHECK_FALSE(range::any_of(none, is_even));
    CHECK_FALSE(range::contains(none, 1));
    CHECK(range::count(none, 1) == 0);
    CHECK(range::equal(none, std::vector<int>{}));
    CHECK(range::find_if(none, is_even) == none.end());
}

TEST_CASE("range: quantifiers examine all elements", "[core][range]") {
    const std::vector<int> some{1, 3, 4, 5, 4};
    CHECK_FALSE(range::all_of(some, is_even));
    CHECK(range::any_of(some, is_even));
    CHECK(range::all_of(std::vector<bool>{true, true}, [](bool one) { return one; }));
    CHECK(range::count_if(some, is_even) == 2);
    CHECK(range::count(some, 5) == 1);
    CHECK(range::contains(some, 4));
    CHECK_FALSE(range::contains(some, 2));
    CHECK(range::contains(std::vector<std::string>{"a", ".."}, ".."));
    CHECK(range::find_if(some, is_even) - some.begin() == 2);
    CHECK(range::find_if(some, [](int i) { return i > 5; }) == some.end());
}

TEST_CASE("range: equal ranges have equal lengths", "[core][range]") {
    const std::vector<int> some{1, 2};
    CHECK(range::equal(some, std::vector<int>{1, 2}));
    CHECK_FALSE(range::equal(some, std::vector<int>{1, 2, 3}));
    CHECK_FALSE(range::equal(some, std::vector<int>{1}));
    CHECK(range::equal(some, std::vector<int>{3, 4},
                       [](int a, int b) { return is_even(a) != is_even(b) || a + 2 == b; }));
}

TEST_CASE("range: stable sorting keeps the order of equivalent elements", "[core][range]") {
    using pairs = std::vector<std::pair<int, int>>;
    pairs all{{2, 0}, {1, 0}, {2, 1}, {1, 1}};
    range::stable_sort_by(all, &pairs::value_type::first);
    CHECK(all == pairs{{1, 0}, {1, 1}, {2, 0}, {2, 1}});
    range::stable_sort(all, [](const auto& a, const auto& b) { return a.second > b.second; });
    CHECK(all == pairs{{1, 1}, {2, 1}, {1, 0}, {2, 0}});
    range::sort(all);
    CHECK(all == pairs{{1, 0}, {1, 1}, {2, 0}, {2, 1}});
    CHECK(range::each_once(std::vector<int>{3, 1, 3, 2, 1}) == std::vector<int>{1, 2, 3});
}

} // namespace test::core_detail_range
