// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_TENSOR_FACTS_HPP
#define STEMMA_TYPES_DETAIL_TENSOR_FACTS_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The extents of a tensor: numbers, -1 if unknown, named ones below that, and computed ones
/// further below.
using extents = std::vector<std::int64_t>;

constexpr std::int64_t any_extent = -1;

// From here down, extents are computed from named ones, see `extent_algebra`.
constexpr std::int64_t computed_extents = -(std::int64_t{1} << 40U);

// Beyond any real tensor or shape; bounds hostile files.
constexpr std::size_t max_extents = 64;

constexpr std::int64_t float_type = 1;
constexpr std::int64_t uint8_type = 2;
constexpr std::int64_t int32_type = 6;
constexpr std::int64_t int64_type = 7;
constexpr std::int64_t bool_type = 9;

/// Facts about a tensor.
struct tensor_facts {
    std::int64_t data_type = 0; // 0: unknown
    std::optional<extents> dims;
    std::optional<extents> numbers; // elements of a small one, as extents

    [[nodiscard]] bool ranked() const noexcept { return dims.has_value(); }
    [[nodiscard]] std::size_t rank() const noexcept { return dims->size(); }
};

/// Returns: facts without numbers.
[[nodiscard]] inline tensor_facts made(std::int64_t data_type, std::optional<extents> dims) {
    return {data_type, std::move(dims), {}};
}

/// Whether a name is in a list with blanks around every name.
[[nodiscard]] inline bool is_one_of(std::string_view name, std::string_view list) {
    if (name.empty() || name.find(' ') != name.npos) {
        return false;
    }
    for (auto at = list.find(name); at != list.npos; at = list.find(name, at + 1)) {
        if (list[at - 1] == ' ' && list[at + name.size()] == ' ') {
            return true;
        }
    }
    return false;
}

/// Returns: numbers of a file as extents; negative ones are unknown.
[[nodiscard]] inline extents as_extents(extents numbers) {
    for (auto& number : numbers) {
        number = number < 0 ? any_extent : number;
    }
    return numbers;
}

/// Returns: a number up to which a type, a number in TensorProto.DataType, holds all whole numbers;
/// 0 for types that are not expected to hold any.
[[nodiscard]] constexpr std::int64_t largest_whole(std::int64_t data_type) noexcept {
    constexpr auto below = [](unsigned bits) { return (std::int64_t{1} << bits) - 1; };
    constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
    constexpr std::array<std::int64_t, 17> largest{
        0, below(24), below(8),  below(7),  below(16), below(15), below(31), all,     0,
        1, below(11), below(53), below(32), all,       0,         0,         below(8)};
    return data_type > 0 && data_type < 17 ? largest[static_cast<std::size_t>(data_type)] : 0;
}

/// Returns: whole numbers, some of them named, after a cast; unknown where it may change them.
/// Types of 32 bits or more are taken to hold the named ones.
[[nodiscard]] inline extents cast_numbers(extents numbers, std::int64_t data_type) {
    const auto largest = largest_whole(data_type);
    for (auto& number : numbers) {
        if (data_type == bool_type && number >= 0) {
            number = std::min<std::int64_t>(number, 1);
        } else if (number < any_extent ? largest < largest_whole(float_type) : number > largest) {
            number = any_extent;
        }
    }
    return numbers;
}

/// Returns: the axes of so many, in order.
[[nodiscard]] inline extents all_axes(std::size_t rank) {
    extents axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}

/// Returns: an axis counted from the front, or nothing if out of range.
[[nodiscard]] inline std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
    const auto signed_rank = static_cast<std::int64_t>(rank);
    axis += axis < 0 ? signed_rank : 0;
    return axis >= 0 && axis < signed_rank ? std::optional(static_cast<std::size_t>(axis))
                                           : std::nullopt;
}

/// Returns: the sum or product of two known extents; unknown if it overflows 64 bits.
[[nodiscard]] inline std::int64_t add_extents(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? any_extent : sum;
}
[[nodiscard]] inline std::int64_t multiply_extents(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? any_extent : product;
}

/// Returns: the extents of an elementwise result of two tensors.
[[nodiscard]] inline std::optional<extents> broadcast(const std::optional<extents>& a,
                                                      const std::optional<extents>& b) {
    if (!a || !b) {
        return std::nullopt;
    }
    extents result(std::max(a->size(), b->size()));
    for (std::size_t i = 0; i < result.size(); ++i) {
        const auto x = i < a->size() ? (*a)[a->size() - 1 - i] : 1;
        const auto y = i < b->size() ? (*b)[b->size() - 1 - i] : 1;
        result[result.size() - 1 - i] = x == 1             ? y
                                        : y == 1 || x == y ? x
                                        : x > 1            ? x
                                        : y > 1            ? y
                                                           : any_extent;
    }
    return result;
}

/// Keeps only facts shared with `other`.
inline void keep_common(tensor_facts& common, const tensor_facts& other) {
    if (common.data_type != other.data_type) {
        common.data_type = 0;
    }
    if (!common.ranked() || !other.ranked() || common.rank() != other.rank()) {
        common.dims.reset();
        return;
    }
    for (std::size_t d = 0; d < common.rank(); ++d) {
        if ((*common.dims)[d] != (*other.dims)[d]) {
            (*common.dims)[d] = any_extent;
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_TENSOR_FACTS_HPP
