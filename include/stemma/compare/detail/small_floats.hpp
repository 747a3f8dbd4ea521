// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_SMALL_FLOATS_HPP
#define STEMMA_COMPARE_DETAIL_SMALL_FLOATS_HPP

#include <stemma/config.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace stemma::inline STEMMA_ABI::detail {

/// The special bit patterns of a small floating-point type.
enum class special_values : std::uint8_t {
    ieee,      ///< an exponent of ones: infinity, and NaN with a mantissa
    nan_ones,  ///< only all ones are NaN, no infinity
    nan_minus, ///< only minus zero is NaN, no infinity
    none,      ///< all are numbers
};

/// The layout of a floating-point type of at most 16 bits.
struct small_float {
    unsigned exponent = 0; ///< bits
    unsigned mantissa = 0; ///< bits
    int bias = 0;          ///< of the exponent
    special_values special = special_values::ieee;
    bool is_signed = true;
};

/// Returns: the layout of a type, by its number in TensorProto.DataType; nothing for others.
[[nodiscard]] constexpr std::optional<small_float>
small_float_type(std::int64_t data_type) noexcept {
    using enum special_values;
    switch (data_type) {
    case 10: // float16
        return small_float{5, 10, 15, ieee};
    case 16: // bfloat16
        return small_float{8, 7, 127, ieee};
    case 17: // float8e4m3fn
        return small_float{4, 3, 7, nan_ones};
    case 18: // float8e4m3fnuz
        return small_float{4, 3, 8, nan_minus};
    case 19: // float8e5m2
        return small_float{5, 2, 15, ieee};
    case 20: // float8e5m2fnuz
        return small_float{5, 2, 16, nan_minus};
    case 23: // float4e2m1
        return small_float{2, 1, 1, none};
    case 24: // float8e8m0
        return small_float{8, 0, 127, nan_ones, false};
    default:
        return std::nullopt;
    }
}

/// Returns: the value of `bits`.
[[nodiscard]] inline float small_float_value(const small_float& type, std::uint32_t bits) noexcept {
    const auto width = type.exponent + type.mantissa;
    const auto all = (1U << width) - 1U;
    const bool negative = type.is_signed && (bits >> width & 1U) != 0;
    const auto exponent = bits >> type.mantissa & ((1U << type.exponent) - 1U);
    const auto mantissa = bits & ((1U << type.mantissa) - 1U);
    constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
    if ((type.special == special_values::nan_ones && (bits & all) == all) ||
        (type.special == special_values::nan_minus && negative && (bits & all) == 0)) {
        return nan;
    }
    float size = 0;
    if (type.special == special_values::ieee && exponent == (1U << type.exponent) - 1U) {
        size = mantissa == 0 ? std::numeric_limits<float>::infinity() : nan;
    } else if (exponent == 0 && type.mantissa > 0) {
        size = std::ldexp(static_cast<float>(mantissa),
                          1 - type.bias - static_cast<int>(type.mantissa));
    } else {
        size = std::ldexp(static_cast<float>(mantissa | 1U << type.mantissa),
                          static_cast<int>(exponent) - type.bias - static_cast<int>(type.mantissa));
    }
    return negative ? -size : size;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_SMALL_FLOATS_HPP
