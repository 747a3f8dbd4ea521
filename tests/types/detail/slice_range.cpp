// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/slice_range.hpp>

#include "../../catch.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace test::types_detail_slice_range {

using stemma::detail::find_slice_range;

namespace {

/// What Python's `range(extent)[start:end:step]` takes, by its definition: the elements on the way
/// from the start to before the end.
std::vector<std::int64_t> slice(std::int64_t start, std::int64_t end, std::int64_t step,
                                std::int64_t extent) {
    start += start < 0 ? extent : 0;
    end += end < 0 ? extent : 0;
    std::vector<std::int64_t> taken;
    if (step < 0) {
        start = start >= extent ? extent - 1 : start;
    } else {
        start = start < 0 ? 0 : start;
    }
    for (auto at = start; step > 0 ? at < end : at > end; at += step) {
        if (at < 0 || at >= extent) {
            break;
        }
        taken.push_back(at);
    }
    return taken;
}

} // namespace

TEST_CASE("find_slice_range: takes what Python takes") {
    for (std::int64_t extent = 0; extent < 6; ++extent) {
        for (std::int64_t start = -8; start < 9; ++start) {
            for (std::int64_t end = -8; end < 9; ++end) {
                for (const std::int64_t step : {-7, -2, -1, 1, 2, 3, 7}) {
                    if (step < 0 && start + extent < 0) {
                        continue; // ONNX begins at the front there, Python takes nothing
                    }
                    CAPTURE(extent, start, end, step);
                    const auto range = find_slice_range(start, end, step, extent);
                    REQUIRE(range);
                    const auto taken = slice(start, end, step, extent);
                    REQUIRE(range->count == static_cast<std::int64_t>(taken.size()));
                    for (std::size_t i = 0; i < taken.size(); ++i) {
                        CHECK(range->first + static_cast<std::int64_t>(i) * range->step ==
                              taken[i]);
                    }
                }
            }
        }
    }
}

TEST_CASE("find_slice_range: the largest numbers mean the ends") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    CHECK(find_slice_range(0, most, 1, 5)->count == 5);
    CHECK(find_slice_range(least, most, 1, 5)->count == 5);
    CHECK(find_slice_range(most, least, -1, 5)->count == 5);
    CHECK(find_slice_range(most, least, -1, 5)->first == 4);
    CHECK(find_slice_range(0, most, most, 5)->count == 1);
    CHECK(find_slice_range(most, least, least, 5)->count == 1);
    CHECK(find_slice_range(most, least, least, most)->count == 1);
    CHECK(find_slice_range(0, most, 1, most)->count == most);
}

TEST_CASE("find_slice_range: of an unknown extent, or without a step, nothing is known") {
    CHECK_FALSE(find_slice_range(0, 2, 1, -1));
    CHECK_FALSE(find_slice_range(0, 2, 0, 5));
}

} // namespace test::types_detail_slice_range
