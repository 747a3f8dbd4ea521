// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/element_moves.hpp>

#include "../../catch.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace test::weights_detail_element_moves {

using namespace stemma::detail;

TEST_CASE("element_moves: numbers of another type are the same as far as it goes") {
    const std::vector<float> numbers{0, -1.5F, 3.25F, 65504};
    const auto bytes = bytes_of(numbers);
    CHECK(floats_of(bytes) == numbers);
    for (const auto type : {float16, float64}) {
        const auto other = convert_reals(bytes, float32, type);
        CHECK(floats_of(convert_reals(other, type, float32)) == numbers);
    }
    CHECK(convert_reals("", float32, float16).empty());
}

TEST_CASE("element_moves: axes change places for elements of any width") {
    const std::array<std::int64_t, 3> shape{2, 3, 5};
    const std::array<std::uint8_t, 3> axes{2, 0, 1};
    for (const std::size_t width : {1U, 2U, 4U, 8U, 16U}) {
        std::string bytes;
        for (char i = 0; i < 30; ++i) {
            bytes.append(width, i);
        }
        const auto moved = permute_axes(bytes, shape, axes, width);
        for (std::size_t i = 0; i < 5; ++i) {
            for (std::size_t j = 0; j < 2; ++j) {
                for (std::size_t k = 0; k < 3; ++k) {
                    REQUIRE(moved[((i * 2 + j) * 3 + k) * width] ==
                            bytes[((j * 3 + k) * 5 + i) * width]);
                }
            }
        }
        const std::array<std::int64_t, 2> matrix{5, 6};
        const std::array<std::uint8_t, 2> turned{1, 0};
        const std::array<std::int64_t, 2> back{6, 5};
        CHECK(permute_axes(permute_axes(bytes, matrix, turned, width), back, turned, width) ==
              bytes);
    }
    const std::array<std::int64_t, 2> none{0, 4};
    CHECK(permute_axes("", none, std::array<std::uint8_t, 2>{1, 0}, 4).empty());
}

} // namespace test::weights_detail_element_moves
