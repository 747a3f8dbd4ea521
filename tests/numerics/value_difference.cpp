// SPDX-License-Identifier: Apache-2.0
#include <stemma/numerics/value_difference.hpp>

#include "../bytes_of.hpp"
#include "../catch.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace test::numerics_value_difference {

namespace {

stemma::tensor_values of(const std::string& bytes) {
    return {11, {static_cast<std::int64_t>(bytes.size() / 8)}, bytes, "", ""};
}

stemma::value_difference difference(const std::vector<double>& a, const std::vector<double>& b) {
    const auto x = bytes_of(a);
    const auto y = bytes_of(b);
    return *stemma::detail::compare_values(of(x), of(y));
}

constexpr auto infinite = std::numeric_limits<double>::infinity();
constexpr auto no_number = std::numeric_limits<double>::quiet_NaN();

} // namespace

TEST_CASE("value_difference: measures match their definitions", "[numerics][value_difference]") {
    const auto d = difference({3, 4, 0}, {3, 3, 1});
    CHECK(d.elements == 3);
    CHECK_FALSE(d.identical);
    CHECK(d.max_abs == 1);
    CHECK(d.max_rel == 0.25); // what should be 0 has no share
    CHECK(d.cosine == Approx(21 / (5 * std::sqrt(19.0))));
    CHECK(d.sqnr == Approx(10 * std::log10(25.0 / 2)));
}

TEST_CASE("value_difference: equal values have no difference", "[numerics][value_difference]") {
    for (const auto& one : {std::vector<double>{1, 2}, {}, {0, 0}, {infinite, no_number}}) {
        const auto d = difference(one, one);
        CHECK(d.identical);
        CHECK(d.sqnr == infinite);
        CHECK(d.cosine == 1);
        CHECK(d.unequal_nonfinite == 0);
    }
}

TEST_CASE("value_difference: counts infinities on one side separately",
          "[numerics][value_difference]") {
    const auto d = difference({1, infinite, no_number, 2}, {1, 5, no_number, -infinite});
    CHECK(d.unequal_nonfinite == 2);
    CHECK(d.max_abs == 0);
    CHECK_FALSE(d.identical);
    CHECK(stemma::difference_bounds{.max_abs = 100}.are_exceeded(d));
}

TEST_CASE("value_difference: a value that should be 0 but is not has the worst ratio",
          "[numerics][value_difference]") {
    const auto d = difference({0, 0}, {0, 1});
    CHECK(d.sqnr == -infinite);
    CHECK(d.cosine == 0);
}

TEST_CASE("value_difference: measures do not depend on the size of numbers",
          "[numerics][value_difference]") {
    const auto usual = difference({3, 4, 0}, {3, 3, 1});
    for (const auto size : {1e-320, 1e-180, 1e170, 1e307}) {
        INFO(size);
        const auto d = difference({3 * size, 4 * size, 0}, {3 * size, 3 * size, size});
        CHECK_FALSE(d.identical);
        const auto exact = size > 1e-300 ? 1e-9 : 0.01; // denormal numbers have few bits
        CHECK(d.cosine == Approx(usual.cosine).epsilon(exact));
        CHECK(d.sqnr == Approx(usual.sqnr).epsilon(exact));
    }
    const auto opposite = difference({1.5e308}, {-1.5e308});
    CHECK(opposite.cosine == Approx(-1));
    CHECK(opposite.sqnr == Approx(-20 * std::log10(2)));
    CHECK(difference({1e150}, {1.5e-160}).sqnr == Approx(0).margin(1e-9));
    const auto shrunk = difference({1e-200, 2e-200}, {1, 2});
    CHECK(shrunk.cosine == Approx(1));
    CHECK(shrunk.sqnr == Approx(-4000));
    CHECK(difference({1e100, 0}, {1e100, 1e-100}).sqnr == Approx(4000));
}

TEST_CASE("value_difference: 64-bit integers are compared exactly",
          "[numerics][value_difference]") {
    const auto apart = [](std::int64_t type, auto x, auto y) {
        const std::string a(reinterpret_cast<const char*>(&x), sizeof x);
        const std::string b(reinterpret_cast<const char*>(&y), sizeof y);
        const auto d =
            *stemma::detail::compare_values({type, {1}, a, "", ""}, {type, {1}, b, "", ""});
        CHECK(d.identical == (x == y));
        return d.max_abs;
    };
    const auto large = std::int64_t{1} << 60U;
    CHECK(apart(7, large, large + 7) == 7);
    CHECK(apart(7, -large - 1, -large) == 1);
    CHECK(apart(7, std::numeric_limits<std::int64_t>::max(),
                std::numeric_limits<std::int64_t>::max() - 1) == 1);
    CHECK(apart(13, ~std::uint64_t{0}, ~std::uint64_t{0} - 5) == 5);
    CHECK(apart(13, std::uint64_t{5}, std::uint64_t{5}) == 0);
}

TEST_CASE("value_difference: values are compared across types, not across shapes",
          "[numerics][value_difference]") {
    const auto wide = bytes_of(std::vector<double>{1, 2});
    const std::string narrow("\1\2", 2);
    CHECK(stemma::detail::compare_values(of(wide), {2, {2}, narrow, "", ""})->identical);
    CHECK_FALSE(stemma::detail::compare_values(of(wide), {2, {2, 1}, narrow, "", ""}));
    CHECK_FALSE(stemma::detail::compare_values(of(wide), {2, {1}, narrow.substr(1), "", ""}));
}

TEST_CASE("value_difference: reads values of any length", "[numerics][value_difference]") {
    std::vector<double> a(2 * stemma::tensor_values::run_size + 3, 1);
    auto b = a;
    b.back() = 5;
    CHECK(difference(a, b).max_abs == 4);
}

TEST_CASE("value_difference: merging keeps the worse of each measure",
          "[numerics][value_difference]") {
    auto one = difference({1, 1}, {1, 2});
    const auto other = difference({100}, {110});
    one.merge(other);
    CHECK(one.max_abs == 10);
    CHECK(one.max_rel == 1);
    CHECK(one.elements == 3);
}

TEST_CASE("difference_bounds: only finite numbers, of magnitudes from 0, are bounds",
          "[numerics][value_difference]") {
    using stemma::difference_bounds;
    CHECK_NOTHROW(difference_bounds{}.check());
    CHECK_NOTHROW(
        difference_bounds{.max_abs = 0, .max_rel = 0, .min_cosine = -1, .min_sqnr = -3}.check());
    for (const auto& bad :
         {difference_bounds{.max_abs = -1}, difference_bounds{.max_rel = -1e-9},
          difference_bounds{.max_abs = no_number}, difference_bounds{.max_rel = no_number},
          difference_bounds{.min_cosine = no_number}, difference_bounds{.min_sqnr = no_number},
          difference_bounds{.max_abs = infinite}, difference_bounds{.min_sqnr = -infinite}}) {
        CHECK_THROWS_AS(bad.check(), stemma::error);
    }
    CHECK_THROWS_WITH(difference_bounds{.max_abs = -0.5}.check(),
                      "max_abs: -0.5 is not a finite number from 0");
    CHECK_THROWS_WITH(difference_bounds{.min_sqnr = infinite}.check(),
                      "min_sqnr: inf is not a finite number");
}

TEST_CASE("value_difference: only given bounds count, by default the ratio",
          "[numerics][value_difference]") {
    using stemma::difference_bounds;
    const auto d = difference({1000, 1000}, {1000, 1000.5}); // 69 dB
    CHECK_FALSE(difference_bounds{}.are_exceeded(d));
    CHECK(difference_bounds{.min_sqnr = 80}.are_exceeded(d));
    CHECK(difference_bounds{.max_abs = 0.1}.are_exceeded(d));
    CHECK_FALSE(difference_bounds{.max_abs = 0.5}.are_exceeded(d));
    CHECK(difference_bounds{.max_rel = 1e-4}.are_exceeded(d));
    CHECK(difference_bounds{.min_cosine = 1}.are_exceeded(d));
    CHECK(difference_bounds{}.are_exceeded(difference({1}, {1.1})));
    CHECK_FALSE(difference_bounds{.max_abs = 1}.are_exceeded(difference({1}, {1.1})));
}

} // namespace test::numerics_value_difference
