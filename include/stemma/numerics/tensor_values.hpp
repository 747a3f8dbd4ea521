// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_TENSOR_VALUES_HPP
#define STEMMA_NUMERICS_TENSOR_VALUES_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/bit_cast.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/detail/number_types.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// The elements of a type.
struct element_layout {
    unsigned bytes;
    unsigned numbers; ///< 2 for complex ones
};

/// Returns: the layout of an element type, by its number in ONNX, if it is numeric and none of the
/// small ones.
[[nodiscard]] constexpr std::optional<element_layout> layout_of(std::int64_t data_type) noexcept {
    constexpr std::int64_t bfloat16 = 16; // small ones follow
    const auto bits = data_type <= bfloat16 ? bits_of_type(data_type) : 0;
    const bool is_complex = data_type == 14 || data_type == 15;
    return bits == 0 ? std::nullopt : std::optional(element_layout{bits / 8, is_complex ? 2U : 1U});
}

} // namespace detail

/// The elements of a tensor in place: float16, bfloat16, float32, float64, integers of 8 to 64
/// bits, booleans and complex numbers, read as double.
///
/// 64-bit integers beyond 2^53 are rounded, see `read_rest`.
class tensor_values {
public:
    /// No elements.
    tensor_values() = default;

    /// `bytes` are the elements, row-major unless `column_major`, in native byte order unless
    /// `swapped`. Requires: they outlive it, unless `own` holds them.
    /// Throws: `error` of `error_code::malformed` or `unsupported`, naming `file` and `place`, if
    /// the size does not match the shape, or the elements are not numeric.
    /// Complexity: O(rank).
    tensor_values(std::int64_t data_type, std::vector<std::int64_t> dims, std::string_view bytes,
                  std::string_view file, std::string_view place, bool swapped = false,
                  bool column_major = false, std::shared_ptr<const std::string> own = {})
        : data_type_(data_type)
        , dims_(std::move(dims))
        , bytes_(bytes)
        , swapped_(swapped)
        , column_major_(column_major && dims_.size() > 1)
        , own_(std::move(own)) {
        const auto layout = detail::layout_of(data_type);
        if (!layout) {
            STEMMA_THROW(
                error(error_code::unsupported, file, place,
                      "elements of type " + std::to_string(data_type) + " are not supported"));
        }
        layout_ = *layout;
        const auto limit = bytes.size() / layout_.bytes;
        std::uint64_t count = 1;
        const bool empty = std::find(dims_.begin(), dims_.end(), 0) != dims_.end();
        for (const auto dim : dims_) {
            const bool fits = dim >= 0 && (empty || static_cast<std::uint64_t>(dim) <=
                                                        std::max<std::uint64_t>(limit, 1) / count);
            if (!fits) {
                fail(file, place);
            }
            count = empty ? 0 : count * static_cast<std::uint64_t>(dim);
        }
        if (count * layout_.bytes != bytes.size()) {
            fail(file, place);
        }
        count_ = static_cast<std::size_t>(count) * layout_.numbers;
        if (column_major_) {
            std::size_t step = 1;
            for (const auto dim : dims_) {
                steps_.push_back(step);
                step *= static_cast<std::size_t>(dim);
            }
        }
    }

    /// Returns: the number of the element type in ONNX.
    [[nodiscard]] std::int64_t data_type() const noexcept { return data_type_; }

    /// Returns: its extents; none for a scalar.
    [[nodiscard]] const std::vector<std::int64_t>& dims() const noexcept { return dims_; }

    /// Returns: the number of numbers; a complex one is two.
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

    /// Whether two have the same bytes of the same type and shape. Complexity: O(bytes).
    [[nodiscard]] bool is_same(const tensor_values& other) const noexcept {
        return data_type_ == other.data_type_ && dims_ == other.dims_ &&
               swapped_ == other.swapped_ && column_major_ == other.column_major_ &&
               bytes_ == other.bytes_;
    }

    /// Reads numbers from index `first` on in row-major order, filling `to`.
    /// Requires: `first + to.size() <= size()`. Complexity: O(numbers), times the rank if
    /// column-major.
    void read(std::size_t first, std::span<double> to) const {
        detail::with_number_type(data_type_, [&]<class Number>(Number) {
            read_as<Number>(first, to, [](Number number) { return static_cast<double>(number); });
        });
    }

    /// Whether `read` rounds large numbers: these are 64-bit integers.
    [[nodiscard]] bool is_rounded() const noexcept { return data_type_ == 7 || data_type_ == 13; }

    /// Reads what `read` rounds off, filling `to`; 0 for exact numbers. Requires, Complexity: as
    /// `read`.
    void read_rest(std::size_t first, std::span<double> to) const {
        const auto rest = [](std::uint64_t bits, std::uint64_t rounded) { // as integers
            return static_cast<double>(static_cast<std::int64_t>(bits - rounded));
        };
        if (data_type_ == 7) {
            read_as<std::uint64_t>(first, to, [&](std::uint64_t n) {
                const auto number = static_cast<double>(static_cast<std::int64_t>(n));
                return rest(n, number >= 0x1p63
                                   ? std::uint64_t{1} << 63U
                                   : static_cast<std::uint64_t>(static_cast<std::int64_t>(number)));
            });
        } else if (data_type_ == 13) {
            read_as<std::uint64_t>(first, to, [&](std::uint64_t n) {
                const auto number = static_cast<double>(n);
                return rest(n, number >= 0x1p64 ? 0 : static_cast<std::uint64_t>(number));
            });
        } else {
            std::fill(to.begin(), to.end(), 0.0);
        }
    }

    /// Returns: the elements converted to another type, row-major in native byte order; nothing for
    /// non-real types. Numbers out of an integer type's range are clamped.
    /// Complexity: O(numbers).
    [[nodiscard]] std::optional<std::string> bytes_as(std::int64_t data_type) const {
        if (data_type == data_type_) {
            return ordered_bytes();
        }
        const auto layout = detail::layout_of(data_type);
        if (!layout || layout->numbers != layout_.numbers) {
            return std::nullopt;
        }
        std::string bytes;
        std::vector<double> run(std::min(count_, run_size));
        for (std::size_t at = 0; at < count_; at += run.size()) {
            run.resize(std::min(run_size, count_ - at));
            read(at, run);
            for (const auto number : run) {
                append_as(number, data_type, bytes);
            }
        }
        return bytes;
    }

    /// A good block size for reading.
    static constexpr std::size_t run_size = 4096;

private:
    [[noreturn]] void fail(std::string_view file, std::string_view place) const {
        std::string shape;
        for (const auto dim : dims_) {
            shape.append(shape.empty() ? "" : ", ").append(std::to_string(dim));
        }
        STEMMA_THROW(error(error_code::malformed, file, place,
                           "the shape [" + shape + "] does not fit " +
                               std::to_string(bytes_.size()) + " bytes of elements"));
    }

    /// Returns: the bytes of the numbers, row-major and in native byte order.
    [[nodiscard]] std::string ordered_bytes() const {
        std::string bytes(bytes_);
        const std::size_t width = layout_.bytes / layout_.numbers;
        for (std::size_t i = 0; i < count_ && (swapped_ || column_major_); ++i) {
            const auto number = bytes_.substr((column_major_ ? place_of(i) : i) * width, width);
            auto* const to = bytes.data() + i * width;
            swapped_ ? std::reverse_copy(number.begin(), number.end(), to)
                     : std::copy(number.begin(), number.end(), to);
        }
        return bytes;
    }

    template <class Number, class Convert>
    void read_as(std::size_t first, std::span<double> to, Convert convert) const {
        for (std::size_t i = 0; i < to.size(); ++i) {
            const auto place = column_major_ ? place_of(first + i) : first + i;
            std::array<char, sizeof(Number)> bytes{};
            std::memcpy(bytes.data(), bytes_.data() + place * bytes.size(), bytes.size());
            if (swapped_) {
                std::reverse(bytes.begin(), bytes.end());
            }
            to[i] = convert(detail::bit_cast<Number>(bytes));
        }
    }

    /// Returns: the position of the number with row-major index `row_major`.
    [[nodiscard]] std::size_t place_of(std::size_t row_major) const noexcept {
        auto rest = row_major / layout_.numbers;
        std::size_t place = 0;
        for (auto axis = dims_.size(); axis-- > 0;) {
            const auto extent = static_cast<std::size_t>(dims_[axis]);
            place += rest % extent * steps_[axis];
            rest /= extent;
        }
        return place * layout_.numbers + row_major % layout_.numbers;
    }

    template <class Number>
    [[nodiscard]] static Number converted(double number) {
        if constexpr (std::is_integral_v<Number>) {
            using limits = std::numeric_limits<Number>;
            const auto rounded = std::isnan(number) ? 0.0 : std::nearbyint(number);
            return rounded <= static_cast<double>(limits::min())   ? limits::min()
                   : rounded >= static_cast<double>(limits::max()) ? limits::max()
                                                                   : static_cast<Number>(rounded);
        } else {
            return static_cast<Number>(number);
        }
    }

    static void append_as(double number, std::int64_t data_type, std::string& to) {
        constexpr std::int64_t boolean = 9;
        number = data_type == boolean ? (number != 0 ? 1 : 0) : number;
        detail::with_number_type(data_type, [&]<class Number>(Number) {
            const auto element = converted<Number>(number);
            std::array<char, sizeof element> bytes{};
            std::memcpy(bytes.data(), &element, sizeof element);
            to.append(bytes.data(), bytes.size());
        });
    }

    std::int64_t data_type_ = 1;
    std::vector<std::int64_t> dims_{0};
    std::string_view bytes_;
    bool swapped_ = false;
    bool column_major_ = false;
    std::shared_ptr<const std::string> own_;
    detail::element_layout layout_{4, 1};
    std::size_t count_ = 0;
    std::vector<std::size_t> steps_; // by axis, if `column_major_`
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_NUMERICS_TENSOR_VALUES_HPP
