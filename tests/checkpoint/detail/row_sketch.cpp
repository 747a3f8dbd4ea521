// SPDX-License-Identifier: Apache-2.0
#include <stemma/checkpoint/detail/row_sketch.hpp>

#include "../../bytes_of.hpp"
#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace test::checkpoint_detail_row_sketch {

namespace {

using stemma::detail::row_sketch;
using stemma::detail::strided_floats;

std::vector<float> random_floats(std::size_t count, unsigned seed) {
    test::random_numbers random(seed);
    std::vector<float> values(count);
    for (auto& value : values) {
        value = static_cast<float>(random(20001)) / 10000.0F - 1.0F;
    }
    return values;
}

bool share_a_key(const row_sketch& a, const row_sketch& b) {
    const auto keys = b.keys();
    const auto mine = a.keys();
    return std::any_of(mine.begin(), mine.end(), [&](std::uint64_t key) {
        return std::find(keys.begin(), keys.end(), key) != keys.end();
    });
}

bool alike(const row_sketch& a, const row_sketch& b) {
    return share_a_key(a, b) && a.fits(b);
}

} // namespace

TEST_CASE("row_sketch: recognizes rows multiplied by factors, and no others") {
    auto values = random_floats(8 * 27, 1);
    const auto before = bytes_of(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] *= 0.3F + static_cast<float>(i / 27) * (i / 27 % 2 == 0 ? 1.0F : -1.0F);
    }
    const auto after = bytes_of(values);
    const auto other = bytes_of(random_floats(8 * 27, 2));
    const std::vector<std::int64_t> shape{8, 3, 3, 3};
    const std::vector<std::int64_t> strides{27, 9, 3, 1};
    const row_sketch whole({before, 1, shape, strides}, 0);
    CHECK(alike(row_sketch({after, 1, shape, strides}, 0), whole));
    CHECK_FALSE(alike(row_sketch({other, 1, shape, strides}, 0), whole));
    CHECK_FALSE(row_sketch({other, 1, shape, strides}, 0).fits(whole));
}

TEST_CASE("row_sketch: recognizes transposed and rounded tensors along the other axis") {
    const auto values = random_floats(12 * 10, 3);
    std::string turned;
    for (std::size_t column = 0; column < 10; ++column) {
        for (std::size_t row = 0; row < 12; ++row) {
            // bfloat16 is the upper half of a float.
            const auto bits = std::bit_cast<std::uint32_t>(values[row * 10 + column]) >> 16U;
            turned.push_back(static_cast<char>(bits & 0xffU));
            turned.push_back(static_cast<char>(bits >> 8U));
        }
    }
    const auto bytes = bytes_of(values);
    const row_sketch before({bytes, 1, {12, 10}, {10, 1}}, 0);
    CHECK(alike(row_sketch({turned, 16, {10, 12}, {12, 1}}, 1), before));
    CHECK_FALSE(alike(row_sketch({turned, 16, {10, 12}, {12, 1}}, 0), before));
    // The same by strides instead of reordering.
    CHECK(alike(row_sketch({bytes, 1, {10, 12}, {1, 10}}, 1), before));
}

TEST_CASE("row_sketch: uniform or few rows are no evidence") {
    const auto bytes = bytes_of(random_floats(64, 4));
    CHECK(row_sketch({bytes, 1, {64, 1}, {1, 1}}, 0).keys().empty());
    CHECK(row_sketch({bytes, 1, {2, 32}, {32, 1}}, 0).keys().empty());
    const std::string zeros(256, '\0');
    const row_sketch nothing({zeros, 1, {8, 8}, {8, 1}}, 0);
    CHECK_FALSE(nothing.fits(nothing));
}

TEST_CASE("strided_floats: reads all floating-point types") {
    const std::vector<std::int64_t> none;
    const auto at = [&](const std::string& bytes, std::int64_t type) {
        return strided_floats{bytes, type, none, none}.at(1);
    };
    CHECK(at(std::string("\0\0\0\0\0\0\x80\xbf", 8), 1) == -1.0);
    CHECK(at(std::string("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40", 16), 11) == 2.0);
    CHECK(at(std::string("\0\0\0\xc0", 4), 16) == -2.0);
    CHECK(at(std::string("\0\0\0\x3e", 4), 10) == 1.5);
    CHECK(at(std::string("\0\0\1\0", 4), 10) == 0x1p-24);
    CHECK(at(std::string("\0\0\xff\xfb", 4), 10) == -65504.0);
}

} // namespace test::checkpoint_detail_row_sketch
