// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_SLICE_RANGE_HPP
#define STEMMA_TYPES_DETAIL_SLICE_RANGE_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace stemma::detail {

/// The elements of an axis that a Slice takes: `first`, `first + step`, and so on.
struct slice_range {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t step = 1;
};

/// Returns: what a Slice takes of an axis of `extent` elements, as the operator's documentation
/// says: numbers below zero count from the end, and those beyond it are moved to it. Nothing for an
/// extent that is not known, or a step of zero.
[[nodiscard]] constexpr std::optional<slice_range> find_slice_range(std::int64_t start,
                                                                    std::int64_t end,
                                                                    std::int64_t step,
                                                                    std::int64_t extent) noexcept {
    if (extent < 0 || step == 0) {
        return std::nullopt;
    }
    step = std::max(step, -std::numeric_limits<std::int64_t>::max());
    start += start < 0 ? extent : 0;
    end += end < 0 ? extent : 0;
    if (step > 0) {
        start = std::clamp<std::int64_t>(start, 0, extent);
        end = std::clamp<std::int64_t>(end, 0, extent);
        return slice_range{start, end <= start ? 0 : (end - start - 1) / step + 1, step};
    }
    start = std::min(std::max<std::int64_t>(start, 0), extent - 1);
    end = std::clamp<std::int64_t>(end, -1, std::max<std::int64_t>(extent - 1, -1));
    return slice_range{start, start <= end ? 0 : (start - end - 1) / -step + 1, step};
}

} // namespace stemma::detail

#endif // STEMMA_TYPES_DETAIL_SLICE_RANGE_HPP
