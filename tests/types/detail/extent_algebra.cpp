// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/extent_algebra.hpp>

#include "../../catch.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace test::types_detail_extent_algebra {

namespace {

struct scene {
    stemma::detail::string_pool names;
    stemma::detail::extent_algebra algebra{names};
    std::int64_t height = algebra.named("height");
    std::int64_t width = algebra.named("width");

    [[nodiscard]] std::string text(std::int64_t extent) const {
        return algebra.value(extent).text([&](auto s) { return std::string(names[s]); });
    }
    [[nodiscard]] std::int64_t at(std::int64_t extent, std::int64_t size) const {
        const auto bound = [&](std::string_view) { return std::optional(size); };
        return algebra.value(extent)
            .evaluate([&](auto s) { return algebra.value_of(s, bound); })
            .value();
    }
};

} // namespace

TEST_CASE("extent_algebra: equal extents have one number", "[types]") {
    scene s;
    CHECK(s.algebra.multiply(s.height, s.width) == s.algebra.multiply(s.width, s.height));
    CHECK(s.algebra.subtract(s.algebra.add(s.height, 3), 3) == s.height);
    CHECK(s.algebra.divide(s.algebra.multiply(s.height, s.width), s.width) == s.height);
    CHECK(s.algebra.subtract(s.height, s.height) == 0);
    CHECK(s.algebra.add(s.height, stemma::detail::any_extent) == stemma::detail::any_extent);
    CHECK(s.algebra.divide(stemma::detail::any_extent, 4) == stemma::detail::any_extent);
}

TEST_CASE(
    "extent_algebra: only with assumptions do names that differ broadcast, and is nothing cut "
    "short",
    "[types]") {
    for (const bool assumes : {false, true}) {
        stemma::detail::string_pool names;
        stemma::detail::extent_algebra algebra(names, assumes);
        const auto n = algebra.named("n");
        const auto m = algebra.named("m");
        const auto known = [](std::int64_t extent) { return extent != stemma::detail::any_extent; };
        using dims = stemma::detail::extents;
        CHECK(known(algebra.broadcast(dims{n}, dims{m})->front()) == assumes);
        CHECK(algebra.broadcast(dims{n}, dims{1}) == dims{n});
        CHECK(known(algebra.length(algebra.value(n) - 2)) == assumes);
        CHECK(known(algebra.length(algebra.divide(algebra.value(n) - 4, 2) + 1)) == assumes);
        CHECK(known(algebra.length(algebra.divide(algebra.value(n), 2) + 1)));
        CHECK(algebra.assumes() == assumes);
    }
}

TEST_CASE("extent_algebra: quotients are rounded down", "[types]") {
    scene s;
    const auto half = s.algebra.divide(s.algebra.subtract(s.height, 1), 2);
    CHECK(s.text(half) == "floor((height + 1)/2) - 1");
    for (std::int64_t size = 1; size < 9; ++size) {
        CHECK(s.at(half, size) == (size - 1) / 2);
    }
    CHECK(s.algebra.divide(s.algebra.multiply(s.height, 6), 3) == s.algebra.multiply(s.height, 2));
}

TEST_CASE("extent_algebra: minima, also of quotients", "[types]") {
    scene s;
    const auto half = s.algebra.divide(s.height, 2);
    const auto least = s.algebra.extent(s.algebra.least(s.algebra.value(half), 5));
    CHECK(s.text(least) == "min(floor(height/2), 5)");
    for (std::int64_t size = 1; size < 20; ++size) {
        CHECK(s.at(least, size) == std::min<std::int64_t>(size / 2, 5));
    }
    CHECK(s.algebra.least(stemma::polynomial(7), 5).constant() == 5);
    CHECK_FALSE(s.algebra.least(stemma::polynomial::unknown(), 5).is_known());
    std::vector<stemma::id> names;
    s.algebra.for_each_name_in(s.algebra.value(least).terms()[0].symbols[0],
                               [&](stemma::id name) { names.push_back(name); });
    REQUIRE(names.size() == 1);
    CHECK(s.names[names[0]] == "height");
}

TEST_CASE("extent_algebra: a named extent broadcast with a number becomes the number", "[types]") {
    scene s;
    using stemma::detail::extents;
    CHECK(s.algebra.broadcast(extents{s.height, 1}, extents{s.height, 5}) == extents{s.height, 5});
    CHECK(s.algebra.broadcast(extents{s.height}, extents{7}) == extents{7});
    CHECK(s.algebra.broadcast(extents{stemma::detail::any_extent}, extents{s.width}) ==
          extents{stemma::detail::any_extent});
}

} // namespace test::types_detail_extent_algebra
