// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/number_types.hpp>

#include "../../catch.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

namespace test::onnx_detail_number_types {

using namespace stemma::detail;

TEST_CASE("number_types: values are those of IEEE") {
    CHECK(half_value(0x3c00) == 1.0F);
    CHECK(half_value(0xc000) == -2.0F);
    CHECK(half_value(0x7bff) == 65504.0F);
    CHECK(half_value(0x0001) == std::ldexp(1.0F, -24));
    CHECK(std::isinf(half_value(0x7c00)));
    CHECK(std::isnan(half_value(0x7e00)));
    CHECK(brain_value(0x3f80) == 1.0F);
    CHECK(brain_value(0xbfc0) == -1.5F);
    CHECK(std::isnan(brain_value(0x7fc0)));
}

TEMPLATE_TEST_CASE("number_types: every element comes back", "", half, brain) {
    for (unsigned bits = 0; bits < 0x10000U; ++bits) {
        TestType element;
        element.bits = static_cast<std::uint16_t>(bits);
        const auto value = static_cast<double>(element);
        if (std::isnan(value)) {
            REQUIRE(std::isnan(static_cast<float>(TestType(static_cast<float>(value)))));
        } else {
            REQUIRE(TestType(static_cast<float>(value)).bits == bits);
            REQUIRE(TestType(value).bits == bits);
        }
    }
}

TEMPLATE_TEST_CASE("number_types: a number between two goes to the nearest, or the even one", "",
                   half, brain) {
    const auto value_of = [](unsigned bits) {
        TestType element;
        element.bits = static_cast<std::uint16_t>(bits);
        return static_cast<double>(element);
    };
    for (unsigned bits = 0; std::isfinite(value_of(bits + 1)); ++bits) {
        const auto low = value_of(bits);
        const auto high = value_of(bits + 1);
        const auto middle = low + (high - low) / 2;
        const auto least = std::numeric_limits<double>::denorm_min();
        REQUIRE(TestType(middle).bits == bits + bits % 2);
        // Closer than any float is: rounding twice would lose the side.
        REQUIRE(TestType(std::nextafter(middle, 0.0)).bits == bits);
        REQUIRE(TestType(-std::nextafter(middle, high)).bits == (0x8000U | (bits + 1)));
        REQUIRE(TestType(low + least).bits == bits);
    }
    CHECK(half(65520.0).bits == 0x7c00); // beyond the largest
    CHECK(std::isinf(static_cast<float>(brain(1e300))));
}

TEST_CASE("number_types: each type has its size") {
    const std::map<std::int64_t, std::size_t> sizes{{1, 4},  {2, 1},  {3, 1},  {4, 2},  {5, 2},
                                                    {6, 4},  {7, 8},  {9, 1},  {10, 2}, {11, 8},
                                                    {12, 4}, {13, 8}, {14, 4}, {15, 8}, {16, 2}};
    for (std::int64_t type = 0; type < 30; ++type) {
        std::size_t size = 0;
        std::size_t real = 0;
        with_number_type(type, [&](auto number) { size = sizeof number; });
        with_real_type(type, [&](auto number) { real = sizeof number; });
        CHECK(size == (sizes.contains(type) ? sizes.at(type) : 0));
        CHECK(real == (is_real_type(type) ? size : 0));
    }
}

} // namespace test::onnx_detail_number_types
