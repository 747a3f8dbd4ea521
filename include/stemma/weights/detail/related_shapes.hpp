// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_RELATED_SHAPES_HPP
#define STEMMA_WEIGHTS_DETAIL_RELATED_SHAPES_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/weights/detail/make_values.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the only extents in which two shapes differ, whatever the order of their axes: of parts
/// and a whole, one of which may lack the axis; zeros if there is no such pair.
/// Complexity: O(rank * log rank).
[[nodiscard]] inline std::pair<std::uint64_t, std::uint64_t>
other_extents(std::span<const std::int64_t> one, std::span<const std::int64_t> other) {
    const auto wide = [](std::span<const std::int64_t> shape) {
        std::vector<std::int64_t> dims(shape.begin(), shape.end());
        std::erase(dims, 1);
        std::sort(dims.begin(), dims.end());
        return dims;
    };
    const auto a = wide(one);
    const auto b = wide(other);
    std::vector<std::int64_t> of_a;
    std::vector<std::int64_t> of_b;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(of_a));
    std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(of_b));
    const bool alike = (a.size() == 1 && b.size() == 1) || (a.size() > 1 && b.size() > 1);
    return alike && of_a.size() < 2 && of_b.size() < 2 ? std::pair(count_of(of_a), count_of(of_b))
                                                       : std::pair<std::uint64_t, std::uint64_t>();
}

/// Whether a tensor may be made of some elements of another one: an extent is the same, or that of
/// a vector can be divided. Complexity: O(product of the ranks).
[[nodiscard]] inline bool are_related(std::span<const std::int64_t> whole,
                                      std::span<const std::int64_t> part) {
    const auto elements = count_of(part);
    return elements > 1 && ((whole.size() == 1 && count_of(whole) % elements == 0) ||
                            range::any_of(part, [&](std::int64_t extent) {
                                return extent > 1 && range::contains(whole, extent);
                            }));
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_RELATED_SHAPES_HPP
