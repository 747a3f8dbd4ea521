// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_ELEMENT_MOVES_HPP
#define STEMMA_WEIGHTS_DETAIL_ELEMENT_MOVES_HPP

#include <stemma/onnx/detail/number_types.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

// Elements are in the byte order of ONNX.
static_assert(std::endian::native == std::endian::little);

/// Returns: numbers converted to another floating-point type. Requires: both are a `real_type`.
/// Complexity: O(bytes).
[[nodiscard]] inline std::string convert_reals(std::string_view bytes, std::int64_t from,
                                               std::int64_t to) {
    std::string result;
    with_real_type(from, [&]<class From>(From number) {
        with_real_type(to, [&]<class To>(To) {
            using between = std::conditional_t<std::is_same_v<To, double>, double, float>;
            const auto count = bytes.size() / sizeof number;
            result.resize(count * sizeof(To));
            for (std::size_t i = 0; i < count; ++i) {
                std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
                const auto converted = static_cast<To>(static_cast<between>(number));
                std::memcpy(result.data() + i * sizeof converted, &converted, sizeof converted);
            }
        });
    });
    return result;
}

/// Writes columns [first, first + count) of a matrix as rows to `to`.
template <class Word>
void transpose_columns(const char* from, std::size_t rows, std::size_t columns, std::size_t first,
                       std::size_t count, char* to, std::size_t first_row = 0) {
    constexpr std::size_t block = 32;
    const auto end = first + count;
    for (std::size_t j = first; j < end; j += block) {
        for (std::size_t i = first_row; i < rows; i += block) {
            for (auto x = i; x < std::min(i + block, rows); ++x) {
                for (auto y = j; y < std::min(j + block, end); ++y) {
                    std::memcpy(to + ((y - first) * rows + x) * sizeof(Word),
                                from + (x * columns + y) * sizeof(Word), sizeof(Word));
                }
            }
        }
    }
}

/// The same for four-byte words: in 4x4 register blocks, which is several times faster, if the
/// compiler can shuffle vectors, which g++ 11 cannot.
inline void transpose_words(const char* from, std::size_t rows, std::size_t columns,
                            std::size_t first, std::size_t count, char* to) {
#if __has_builtin(__builtin_shufflevector)
    using four = std::uint32_t __attribute__((vector_size(16)));
    constexpr std::size_t block = 16;
    const auto whole_rows = rows / block * block;
    const auto whole = count / block * block;
    const auto step = rows * sizeof(std::uint32_t);
    const auto load = [&](std::size_t x, std::size_t y) {
        four words;
        std::memcpy(&words, from + (x * columns + y) * sizeof(std::uint32_t), sizeof words);
        return words;
    };
    const auto store = [](char* at, four words) { std::memcpy(at, &words, sizeof words); };
    for (std::size_t j = first; j < first + whole; j += block) {
        for (std::size_t i = 0; i < whole_rows; i += block) {
            for (auto y = j; y < j + block; y += 4) {
                for (auto x = i; x < i + block; x += 4) {
                    const four a = load(x, y);
                    const four b = load(x + 1, y);
                    const four c = load(x + 2, y);
                    const four d = load(x + 3, y);
                    const four low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
                    const four high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
                    const four next_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
                    const four next_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
                    char* const at = to + (y - first) * step + x * sizeof(std::uint32_t);
                    store(at, __builtin_shufflevector(low, next_low, 0, 1, 4, 5));
                    store(at + step, __builtin_shufflevector(low, next_low, 2, 3, 6, 7));
                    store(at + 2 * step, __builtin_shufflevector(high, next_high, 0, 1, 4, 5));
                    store(at + 3 * step, __builtin_shufflevector(high, next_high, 2, 3, 6, 7));
                }
            }
        }
    }
    transpose_columns<std::uint32_t>(from, rows, columns, first, whole, to, whole_rows);
    transpose_columns<std::uint32_t>(from, rows, columns, first + whole, count - whole,
                                     to + whole * step);
#else
    transpose_columns<std::uint32_t>(from, rows, columns, first, count, to);
#endif
}

/// The same for elements of 1, 2, 4, 8 or 16 bytes. Complexity: O(bytes).
inline void transpose_columns(std::size_t width, const char* from, std::size_t rows,
                              std::size_t columns, std::size_t first, std::size_t count, char* to) {
    struct wide {
        std::uint64_t low, high;
    };
    switch (width) {
    case 1:
        return transpose_columns<std::uint8_t>(from, rows, columns, first, count, to);
    case 2:
        return transpose_columns<std::uint16_t>(from, rows, columns, first, count, to);
    case 4:
        return transpose_words(from, rows, columns, first, count, to);
    case 8:
        return transpose_columns<std::uint64_t>(from, rows, columns, first, count, to);
    default:
        return transpose_columns<wide>(from, rows, columns, first, count, to);
    }
}

/// Returns: a tensor with permuted axes: axis `i` of the result is `axes[i]`. Requires: `bytes`
/// match the shape, of at least one axis. Complexity: O(bytes).
[[nodiscard]] inline std::string permute_axes(std::string_view bytes,
                                              std::span<const std::int64_t> shape,
                                              std::span<const std::uint8_t> axes,
                                              std::size_t width) {
    std::string result(bytes.size(), '\0');
    if (bytes.empty()) {
        return result;
    }
    if (axes.size() == 2 && axes[0] == 1) {
        const auto columns = static_cast<std::size_t>(shape[1]);
        transpose_columns(width, bytes.data(), static_cast<std::size_t>(shape[0]), columns, 0,
                          columns, result.data());
        return result;
    }
    std::vector<std::size_t> steps(shape.size(), width);
    for (auto axis = shape.size() - 1; axis > 0; --axis) {
        steps[axis - 1] = steps[axis] * static_cast<std::size_t>(shape[axis]);
    }
    std::vector<std::size_t> index(shape.size(), 0);
    std::size_t from = 0;
    for (std::size_t at = 0; at < bytes.size(); at += width) {
        std::memcpy(result.data() + at, bytes.data() + from, width);
        for (auto axis = axes.size(); axis-- > 0;) {
            from += steps[axes[axis]];
            if (++index[axis] < static_cast<std::size_t>(shape[axes[axis]])) {
                break;
            }
            from -= steps[axes[axis]] * static_cast<std::size_t>(shape[axes[axis]]);
            index[axis] = 0;
        }
    }
    return result;
}

/// Returns: the numbers, float or double, in some bytes.
template <class Real>
[[nodiscard]] std::vector<Real> reals_of(std::string_view bytes) {
    std::vector<Real> numbers(bytes.size() / sizeof(Real));
    if (!numbers.empty()) {
        std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Real));
    }
    return numbers;
}

[[nodiscard]] inline std::vector<float> floats_of(std::string_view bytes) {
    return reals_of<float>(bytes);
}

/// Whether a type has at least the precision of a float.
[[nodiscard]] constexpr bool is_float_or_double(std::int64_t type) noexcept {
    return type == float32 || type == float64;
}

/// Returns: numbers of a floating-point type as floats.
[[nodiscard]] inline std::vector<float> rounded_to_floats(std::string_view bytes,
                                                          std::int64_t type) {
    return type == float32 ? floats_of(bytes) : floats_of(convert_reals(bytes, type, float32));
}

/// Returns: the bytes of numbers.
template <class Real>
[[nodiscard]] std::string bytes_of(const std::vector<Real>& numbers) {
    std::string bytes(numbers.size() * sizeof(Real), '\0');
    if (!numbers.empty()) {
        std::memcpy(bytes.data(), numbers.data(), bytes.size());
    }
    return bytes;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_ELEMENT_MOVES_HPP
