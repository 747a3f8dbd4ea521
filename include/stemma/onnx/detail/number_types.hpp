// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_NUMBER_TYPES_HPP
#define STEMMA_ONNX_DETAIL_NUMBER_TYPES_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/bit_cast.hpp>

#include <cmath>
#include <cstdint>

namespace stemma::inline STEMMA_ABI::detail {

/// Floating-point types that programs convert, by number in TensorProto.DataType.
enum real_type : std::int64_t { float32 = 1, float16 = 10, float64 = 11, bfloat16 = 16 };

[[nodiscard]] constexpr bool is_real_type(std::int64_t data_type) noexcept {
    return data_type == float32 || data_type == float16 || data_type == float64 ||
           data_type == bfloat16;
}

/// Returns: the bits of the nearest float16, ties to even.
[[nodiscard]] inline std::uint16_t half_bits(float number) noexcept {
    const auto bits = detail::bit_cast<std::uint32_t>(number);
    const auto sign = static_cast<std::uint32_t>(bits >> 16U & 0x8000U);
    const auto size = bits & 0x7fff'ffffU;
    if (size >= 0x4780'0000U) { // 65536 and above, infinity or NaN
        return static_cast<std::uint16_t>(sign | (size > 0x7f80'0000U ? 0x7e00U : 0x7c00U));
    }
    if (size < 0x3880'0000U) { // subnormal: rounded by an addition
        const float sum = detail::bit_cast<float>(size) + 0x1p-1F;
        return static_cast<std::uint16_t>(sign |
                                          (detail::bit_cast<std::uint32_t>(sum) - 0x3f00'0000U));
    }
    const auto odd = size >> 13U & 1U;
    return static_cast<std::uint16_t>(sign | (size - 0x3800'0000U + 0xfffU + odd) >> 13U);
}

/// Returns: the value of the bits of a float16.
[[nodiscard]] inline float half_value(std::uint16_t half) noexcept {
    const auto sign = std::uint32_t{half & 0x8000U} << 16U;
    const std::uint32_t size = half & 0x7fffU;
    if (size >= 0x7c00U) {
        return detail::bit_cast<float>(sign | 0x7f80'0000U | (size & 0x3ffU) << 13U);
    }
    if (size < 0x400U) {
        const float small = static_cast<float>(size) * 0x1p-24F;
        return sign != 0 ? -small : small;
    }
    return detail::bit_cast<float>(sign | ((size << 13U) + 0x3800'0000U));
}

/// Returns: the bits of the nearest bfloat16, ties to even.
[[nodiscard]] inline std::uint16_t brain_bits(float number) noexcept {
    const auto bits = detail::bit_cast<std::uint32_t>(number);
    if ((bits & 0x7fff'ffffU) > 0x7f80'0000U) {
        return static_cast<std::uint16_t>(bits >> 16U | 0x40U);
    }
    return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}

/// Returns: a float next to a number, odd unless it is exact: rounded to a shorter type, it is the
/// nearest one there.
[[nodiscard]] inline float odd_float(double number) noexcept {
    const auto nearest = static_cast<float>(number);
    const auto wide = static_cast<double>(nearest);
    if (wide == number || std::isnan(number)) {
        return nearest;
    }
    const auto bits = detail::bit_cast<std::uint32_t>(nearest);
    return detail::bit_cast<float>((bits - (std::abs(wide) > std::abs(number) ? 1U : 0U)) | 1U);
}

/// An element of a type of 16 bits that C++ lacks.
template <float (*Value)(std::uint16_t), std::uint16_t (*Bits)(float)>
struct short_real {
    std::uint16_t bits; // a zero in `half()`

    short_real() = default;
    explicit short_real(float number) noexcept : bits(Bits(number)) {}
    explicit short_real(double number) noexcept : short_real(odd_float(number)) {}
    explicit operator float() const noexcept { return Value(bits); }
    explicit operator double() const noexcept { return static_cast<double>(Value(bits)); }
};

[[nodiscard]] inline float brain_value(std::uint16_t brain) noexcept {
    return detail::bit_cast<float>(std::uint32_t{brain} << 16U);
}

using half = short_real<half_value, half_bits>;
using brain = short_real<brain_value, brain_bits>;

/// Calls `f` with a zero of the C++ type of elements, if theirs is a `real_type`.
template <class Function>
void with_real_type(std::int64_t data_type, Function f) {
    switch (data_type) {
    case float32:
        return f(float());
    case float16:
        return f(half());
    case float64:
        return f(double());
    case bfloat16:
        return f(brain());
    default:
        return;
    }
}

/// The same for all numbers of 8 bits and more but the small floating-point types; a complex one is
/// two, a `bool` is a byte.
template <class Function>
void with_number_type(std::int64_t data_type, Function f) {
    switch (data_type) {
    case 2:
    case 9:
        return f(std::uint8_t());
    case 3:
        return f(std::int8_t());
    case 4:
        return f(std::uint16_t());
    case 5:
        return f(std::int16_t());
    case 6:
        return f(std::int32_t());
    case 7:
        return f(std::int64_t());
    case 12:
        return f(std::uint32_t());
    case 13:
        return f(std::uint64_t());
    case 14:
        return f(float());
    case 15:
        return f(double());
    default:
        return with_real_type(data_type, f);
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_NUMBER_TYPES_HPP
