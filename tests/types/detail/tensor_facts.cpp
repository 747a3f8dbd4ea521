// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/tensor_facts.hpp>

#include "../../catch.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace test::types_detail_tensor_facts {

namespace d = stemma::detail;

TEST_CASE("broadcast: follows ONNX's rules, also for unknown extents", "[detail][tensor_facts]") {
    const auto check = [](const d::extents& a, const d::extents& b, const d::extents& both) {
        CHECK(d::broadcast(a, b) == both);
        CHECK(d::broadcast(b, a) == both);
    };
    check({2, 3}, {3}, {2, 3});
    check({2, 1}, {1, 3}, {2, 3});
    check({}, {4}, {4});
    check({d::any_extent}, {1}, {d::any_extent});
    check({d::any_extent}, {5}, {5});
    check({-2}, {-2}, {-2});            // the same name
    check({-2}, {-3}, {d::any_extent}); // two names
    CHECK_FALSE(d::broadcast(std::nullopt, d::extents{1}));
}

TEST_CASE("extents: overflowing sums and products are unknown", "[detail][tensor_facts]") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    CHECK(d::add_extents(2, 3) == 5);
    CHECK(d::add_extents(most, 1) == d::any_extent);
    CHECK(d::add_extents(d::any_extent, 3) == d::any_extent);
    CHECK(d::multiply_extents(2, 3) == 6);
    CHECK(d::multiply_extents(most, 2) == d::any_extent);
    CHECK(d::multiply_extents(0, -2) == d::any_extent);
}

TEST_CASE("axis_of: counts from both ends, and rejects axes out of range",
          "[detail][tensor_facts]") {
    CHECK(d::axis_of(0, 3) == 0U);
    CHECK(d::axis_of(-1, 3) == 2U);
    CHECK_FALSE(d::axis_of(3, 3));
    CHECK_FALSE(d::axis_of(-4, 3));
    CHECK_FALSE(d::axis_of(std::numeric_limits<std::int64_t>::min(), 3));
}

TEST_CASE("is_one_of: whole words only", "[detail][tensor_facts]") {
    CHECK(d::is_one_of("Add", " Add Sub "));
    CHECK(d::is_one_of("Sub", " AddSub Sub "));
    CHECK_FALSE(d::is_one_of("Ad", " Add Sub "));
    CHECK_FALSE(d::is_one_of("Add Sub", " Add Sub "));
    CHECK_FALSE(d::is_one_of("", " Add Sub "));
}

TEST_CASE("keep_common: keeps only what both say", "[detail][tensor_facts]") {
    auto facts = d::made(d::float_type, d::extents{2, 3});
    d::keep_common(facts, d::made(d::float_type, d::extents{2, 4}));
    CHECK(facts.data_type == d::float_type);
    CHECK(facts.dims == d::extents{2, d::any_extent});
    d::keep_common(facts, d::made(d::int64_type, d::extents{2}));
    CHECK(facts.data_type == 0);
    CHECK_FALSE(facts.ranked());
}

TEST_CASE("as_extents: a negative number is unknown", "[detail][tensor_facts]") {
    CHECK(d::as_extents({3, -7, 0}) == d::extents{3, d::any_extent, 0});
}

} // namespace test::types_detail_tensor_facts
