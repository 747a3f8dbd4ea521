// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CHECKPOINT_DETAIL_ROW_SKETCH_HPP
#define STEMMA_CHECKPOINT_DETAIL_ROW_SKETCH_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/onnx/detail/number_types.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

// Numbers are copied directly from the file, in the byte order of checkpoints.
static_assert(std::endian::native == std::endian::little);

/// Floating-point numbers in a file, with strides.
struct strided_floats {
    std::string_view bytes; ///< from the first element to at least the last one
    std::int64_t data_type; ///< of ONNX
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides; ///< in elements

    /// Returns: the element at a flat index. Requires: the type is a `real_type`.
    [[nodiscard]] double at(std::uint64_t index) const noexcept {
        double value = 0;
        with_real_type(data_type, [&](auto number) {
            std::memcpy(&number, bytes.data() + index * sizeof number, sizeof number);
            value = static_cast<double>(number);
        });
        return value;
    }
};

/// A few rows of a tensor along one axis, by which it is recognized after each row was multiplied
/// by a factor, as when folding a normalization into a convolution, after transposing, and after
/// rounding.
class row_sketch {
public:
    /// Requires: `axis` is one of the tensor's; it has elements, and its type is a
    /// `real_type`. Complexity: O(elements of the rows), 32 at most.
    row_sketch(const strided_floats& tensor, std::size_t axis)
        : rows_(static_cast<std::uint64_t>(tensor.shape[axis])) {
        auto shape = hash_mix(rows_, tensor.shape.size());
        std::vector<std::int64_t> sizes;
        std::vector<std::int64_t> strides;
        for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
            if (i != axis) {
                shape = hash_mix(shape, static_cast<std::uint64_t>(tensor.shape[i]));
                sizes.push_back(tensor.shape[i]);
                strides.push_back(tensor.strides[i]);
            }
        }
        shape_ = shape;
        const auto count = std::min(rows_, most_rows);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto row = i * rows_ / count;
            read_row(tensor, row * static_cast<std::uint64_t>(tensor.strides[axis]), sizes,
                     strides);
        }
    }

    /// Returns: numbers some of which tensors share if one was made from the other, and rarely
    /// otherwise; none if rows are too short. Complexity: O(rows).
    [[nodiscard]] std::vector<std::uint64_t> keys() const {
        std::vector<std::uint64_t> all;
        if (width_ < 2) {
            return all;
        }
        for (std::size_t first = 0; first + rows_of_key <= largest_.size(); first += rows_of_key) {
            auto key = hash_mix(shape_, first);
            for (std::size_t i = 0; i < rows_of_key; ++i) {
                key = hash_mix(key, largest_[first + i]);
            }
            all.push_back(key);
        }
        return all;
    }

    /// Whether each row is a multiple of another one's, as far as both are kept.
    /// Complexity: O(rows).
    [[nodiscard]] bool fits(const row_sketch& other) const noexcept {
        if (shape_ != other.shape_ || samples_.size() != other.samples_.size()) {
            return false;
        }
        std::size_t told = 0;
        for (std::size_t row = 0; row * samples_of_row < samples_.size(); ++row) {
            const auto mine = std::span(samples_).subspan(row * samples_of_row, samples_of_row);
            const auto others =
                std::span(other.samples_).subspan(row * samples_of_row, samples_of_row);
            const auto told_here = compare(mine, others);
            if (!told_here) {
                return false;
            }
            told += *told_here;
        }
        return told >= least_told;
    }

private:
    static constexpr std::uint64_t most_rows = 32;
    static constexpr std::size_t rows_of_key = 4;
    static constexpr std::size_t samples_of_row = 8;
    static constexpr std::size_t least_told = 12;

    /// Keeps the position of a row's largest number, and some of its numbers.
    void read_row(const strided_floats& tensor, std::uint64_t begin,
                  const std::vector<std::int64_t>& sizes,
                  const std::vector<std::int64_t>& strides) {
        std::vector<std::int64_t> index(sizes.size(), 0);
        std::uint64_t width = 1;
        for (const auto extent : sizes) {
            width *= static_cast<std::uint64_t>(extent);
        }
        width_ = width;
        std::uint64_t at = begin;
        std::uint64_t largest = 0;
        double most = -1;
        const auto first_sample = samples_.size();
        samples_.resize(first_sample + samples_of_row, 0.0);
        for (std::uint64_t i = 0; i < width; ++i) {
            const auto value = tensor.at(at);
            if (std::fabs(value) > most) {
                most = std::fabs(value);
                largest = i;
            }
            // Numbers spread over the row; the last one of each part is kept.
            samples_[first_sample + i * samples_of_row / width] = value;
            for (auto axis = sizes.size(); axis-- > 0;) {
                at += static_cast<std::uint64_t>(strides[axis]);
                if (++index[axis] < sizes[axis]) {
                    break;
                }
                at -= static_cast<std::uint64_t>(strides[axis] * sizes[axis]);
                index[axis] = 0;
            }
        }
        largest_.push_back(largest);
    }

    /// Returns: how many numbers of two rows agree beyond the one that determined the factor;
    /// nothing if one disagrees. Small ones are no evidence, as they may be rounded away.
    [[nodiscard]] static std::optional<std::size_t> compare(std::span<const double> mine,
                                                            std::span<const double> others) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < mine.size(); ++i) {
            best = std::fabs(others[i]) > std::fabs(others[best]) ? i : best;
        }
        const auto factor = mine[best] / others[best];
        if (!std::isfinite(factor)) {
            return mine[best] == 0 ? std::optional<std::size_t>(0) : std::nullopt;
        }
        constexpr double tolerance = 0.004; // bfloat16 keeps eight bits
        const auto size = std::fabs(mine[best]);
        std::size_t told = 0;
        for (std::size_t i = 0; i < mine.size(); ++i) {
            if (!(std::fabs(mine[i] - factor * others[i]) <= tolerance * size)) {
                return std::nullopt;
            }
            told += i != best && std::fabs(mine[i]) > 16 * tolerance * size ? 1U : 0U;
        }
        return told;
    }

    std::uint64_t rows_;
    std::uint64_t shape_ = 0; // of what is kept
    std::uint64_t width_ = 0; // elements of a row
    std::vector<std::uint64_t> largest_;
    std::vector<double> samples_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CHECKPOINT_DETAIL_ROW_SKETCH_HPP
