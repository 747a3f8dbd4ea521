// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/weight_norm.hpp>

#include "../../catch.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace test::weights_detail_weight_norm {

using namespace stemma::detail;

namespace {

using shape = std::vector<std::int64_t>;

std::vector<float> counted(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = 0.1F + static_cast<float>(i % 7);
    }
    return values;
}

} // namespace

TEST_CASE("length_axis_of: the axis whose extent the lengths have") {
    const auto first = length_axis_of(shape{5, 3, 2}, shape{5, 1, 1});
    REQUIRE(first);
    CHECK((first->outer == 1 && first->extent == 5 && first->inner == 6));
    const auto last = length_axis_of(shape{5, 3, 2}, shape{1, 1, 2});
    REQUIRE(last);
    CHECK((last->outer == 15 && last->extent == 2 && last->inner == 1));
    for (const auto& single : {shape{}, shape{1, 1, 1}}) {
        const auto whole = length_axis_of(shape{5, 3, 2}, single);
        REQUIRE(whole);
        CHECK((whole->outer == 1 && whole->extent == 1 && whole->inner == 30));
    }
    CHECK_FALSE(length_axis_of(shape{5, 3}, shape{5, 3}));
    CHECK_FALSE(length_axis_of(shape{5, 3}, shape{5}));
    CHECK_FALSE(length_axis_of(shape{5, 3}, shape{4, 1}));
}

TEST_CASE("weight_lengths: square roots of sums of squares, for any axis and count") {
    for (std::size_t inner = 1; inner < 24; ++inner) {
        for (const std::size_t outer : {1U, 3U}) {
            const length_axis axis{outer, 4, inner};
            const auto values = counted(outer * axis.extent * inner);
            const auto lengths = weight_lengths(values, axis);
            REQUIRE(lengths.size() == axis.extent);
            for (std::size_t k = 0; k < axis.extent; ++k) {
                double sum = 0;
                for (std::size_t i = 0; i < values.size(); ++i) {
                    sum += i / inner % axis.extent == k ? double{values[i]} * values[i] : 0;
                }
                CHECK(std::abs(lengths[k] - std::sqrt(sum)) <= 1e-6 * std::sqrt(sum));
            }
        }
    }
}

TEST_CASE("with_lengths: the direction stays, the length is the given one") {
    const auto scaled = with_lengths({3, 4, 0, 5}, {1, 2, 2}, std::vector<float>{10, 1});
    CHECK(scaled == std::vector<float>{6, 8, 0, 1});
}

TEST_CASE("parametrization_at: a whole segment, the first one") {
    using stemma::detail::parametrization_at;
    CHECK(parametrization_at("parametrizations.weight") == 0);
    CHECK(parametrization_at("a.b.parametrizations.weight.parametrizations.x") == 4);
    CHECK(parametrization_at("a.my_parametrizations.b.parametrizations.weight") == 24);
    for (const auto* path : {"", "a.weight", "a.parametrizations", "my_parametrizations.weight"}) {
        CHECK(parametrization_at(path) == std::string_view::npos);
    }
}

TEST_CASE("lengths_name: both ways of PyTorch to write it") {
    CHECK(lengths_name("a.weight_v") == "a.weight_g");
    CHECK(lengths_name("a.parametrizations.weight.original1") ==
          "a.parametrizations.weight.original0");
    CHECK(lengths_name("parametrizations.weight.original1") == "parametrizations.weight.original0");
    CHECK(lengths_name("a.weight").empty());
}

} // namespace test::weights_detail_weight_norm
