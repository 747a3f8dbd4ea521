// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_WEIGHT_NORM_HPP
#define STEMMA_WEIGHTS_DETAIL_WEIGHT_NORM_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A tensor seen as `outer * extent * inner` elements: it has one length for each of `extent`.
struct length_axis {
    std::size_t outer = 1;
    std::size_t extent = 1;
    std::size_t inner = 1;
};

/// Returns: the axis along which weight norm keeps lengths of this shape; nothing if the shapes do
/// not fit. A single length is that of the whole tensor. Complexity: O(rank).
[[nodiscard]] inline std::optional<length_axis>
length_axis_of(std::span<const std::int64_t> shape, std::span<const std::int64_t> lengths) {
    length_axis result;
    bool passed = false;
    if (!lengths.empty() && lengths.size() != shape.size()) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const auto extent = static_cast<std::size_t>(std::max<std::int64_t>(shape[i], 0));
        const auto kept = lengths.empty() ? 1 : lengths[i];
        if (kept != 1 && (passed || kept != shape[i])) {
            return std::nullopt;
        }
        (kept != 1 ? result.extent : passed ? result.inner : result.outer) *= extent;
        passed = passed || kept != 1;
    }
    if (!passed) {
        std::swap(result.outer, result.inner);
    }
    return result;
}

/// Returns: the sum of squares of contiguous numbers, in eight columns, with the rounding steps of
/// PyTorch on processors with AVX2. Complexity: O(numbers).
[[nodiscard]] inline float sum_of_squares(std::span<const float> row) {
    constexpr std::size_t columns = 8;
    std::array<float, columns> sums{};
    std::size_t i = 0;
    for (; i + columns <= row.size(); i += columns) {
        for (std::size_t c = 0; c < columns; ++c) {
            sums[c] = std::fma(row[i + c], row[i + c], sums[c]);
        }
    }
    auto sum = sums[0];
    for (std::size_t c = 1; c < columns; ++c) {
        sum += sums[c];
    }
    // Of the rest, four squares are rounded before they are added.
    for (const auto four = i + columns / 2; four <= row.size() && i < four; ++i) {
        sum += std::fma(row[i], row[i], 0.0F);
    }
    for (; i < row.size(); ++i) {
        sum = std::fma(row[i], row[i], sum);
    }
    return sum;
}

/// The lengths of the parts of a tensor, rounded as by `sum_of_squares`; numbers of a part that are
/// not contiguous are summed one after another. Complexity: O(elements).
[[nodiscard]] inline std::vector<float> weight_lengths(std::span<const float> values,
                                                       const length_axis& axis) {
    std::vector<float> lengths(axis.extent, 0);
    if (axis.outer == 1) {
        for (std::size_t k = 0; k < axis.extent; ++k) {
            lengths[k] = sum_of_squares(values.subspan(k * axis.inner, axis.inner));
        }
    } else {
        for (std::size_t i = 0; i < values.size(); ++i) {
            auto& sum = lengths[i / axis.inner % axis.extent];
            sum = std::fma(values[i], values[i], sum);
        }
    }
    for (auto& length : lengths) {
        length = std::sqrt(length);
    }
    return lengths;
}

/// The same for doubles, in no particular order of rounding.
[[nodiscard]] inline std::vector<double> weight_lengths(std::span<const double> values,
                                                        const length_axis& axis) {
    std::vector<double> lengths(axis.extent, 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
        lengths[i / axis.inner % axis.extent] += values[i] * values[i];
    }
    for (auto& length : lengths) {
        length = std::sqrt(length);
    }
    return lengths;
}

/// Returns: `values` of the given lengths: each divided by the length it has and multiplied by the
/// new one. Requires: as many new lengths as `axis` has. Complexity: O(elements).
template <class Real>
[[nodiscard]] std::vector<Real> with_lengths(std::vector<Real> values, const length_axis& axis,
                                             const std::vector<Real>& wanted) {
    const auto lengths = weight_lengths(std::span<const Real>(values), axis);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto k = i / axis.inner % axis.extent;
        values[i] = values[i] / lengths[k] * wanted[k];
    }
    return values;
}

/// Returns: where the segment `parametrizations` of a path begins, in which PyTorch keeps what it
/// computes a parameter from; `npos` without one. Complexity: O(length).
[[nodiscard]] constexpr std::size_t parametrization_at(std::string_view path) noexcept {
    constexpr std::string_view segment = "parametrizations.";
    auto at = path.find(segment);
    while (at != path.npos && at != 0 && path[at - 1] != '.') {
        at = path.find(segment, at + 1);
    }
    return at;
}

/// Returns: the name of the entry with the lengths that belongs to one with the directions, as
/// `torch.nn.utils.weight_norm` and its parametrization name them; "" for other entries.
/// Complexity: O(length).
[[nodiscard]] inline std::string lengths_name(std::string_view directions) {
    std::string name;
    if (directions.ends_with("_v")) {
        name = std::string(directions.substr(0, directions.size() - 1)) + "g";
    } else if (directions.ends_with(".original1") &&
               parametrization_at(directions) != directions.npos) {
        name = std::string(directions.substr(0, directions.size() - 1)) + "0";
    }
    return name;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_WEIGHT_NORM_HPP
