// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_TENSOR_DIFFERENCE_HPP
#define STEMMA_COMPARE_TENSOR_DIFFERENCE_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/bit_cast.hpp>
#include <stemma/onnx/detail/number_types.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/tensor_header.hpp>

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
#include <string_view>
#include <type_traits>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// The special bit patterns of a small floating-point type.
enum class special_values : std::uint8_t {
    ieee,      ///< an exponent of ones: infinity, and NaN with a mantissa
    nan_ones,  ///< only all ones are NaN, no infinity
    nan_minus, ///< only minus zero is NaN, no infinity
    none,      ///< all are numbers
};

/// The layout of a floating-point type of at most 8 bits.
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

} // namespace detail

/// The difference between the elements of two tensors.
struct tensor_difference {
    std::uint64_t elements = 0; ///< number of elements of each
    /// Number of unequal ones. NaNs are equal, and so are 0 and -0.
    std::uint64_t different = 0;
    double absolute = 0; ///< the largest `|a - b|`; infinite if one is not finite
    /// The largest `|a - b| / max(|a|, |b|)`: at most 2, and 1 if one is 0; infinite if one is not
    /// finite.
    double relative = 0;

    friend bool operator==(const tensor_difference&, const tensor_difference&) = default;
};

namespace detail {

inline constexpr std::size_t compared_block = 1024;

/// Reads the elements of a tensor as numbers, block by block.
class element_reader {
public:
    /// Requires: a numeric type.
    explicit element_reader(std::int64_t data_type)
        : type_(data_type), bits_(bits_of_type(data_type)) {
        if (const auto small = small_float_type(data_type)) {
            values_.resize(std::size_t{1} << bits_);
            for (std::uint32_t i = 0; i < values_.size(); ++i) {
                values_[i] = small_float_value(*small, i);
            }
        }
    }

    /// Returns: the numbers per element: two for complex types.
    [[nodiscard]] static std::uint64_t numbers_of(std::int64_t data_type) noexcept {
        return data_type_name(data_type).starts_with("complex") ? 2 : 1;
    }

    /// Reads `count` numbers from number `first` on. Requires: `data` has them.
    void read(std::string_view data, std::uint64_t first, std::size_t count, double* out) const {
        if (!values_.empty() || bits_ < 8) {
            for (std::size_t i = 0; i < count; ++i) {
                out[i] = of_bits(bits_at(data, first + i));
            }
            return;
        }
        with_number_type(type_, [&]<class Number>(Number number) {
            const char* from = data.data() + first * sizeof number;
            for (std::size_t i = 0; i < count; ++i) {
                std::memcpy(&number, from + i * sizeof number, sizeof number);
                out[i] = static_cast<double>(number);
            }
        });
    }

private:
    [[nodiscard]] std::uint32_t bits_at(std::string_view data, std::uint64_t i) const {
        const auto bit = i * bits_; // the first element is in the low bits
        const auto byte = static_cast<unsigned char>(data[bit / 8]);
        return static_cast<std::uint32_t>(byte) >> bit % 8 & ((1U << bits_) - 1U);
    }

    [[nodiscard]] double of_bits(std::uint32_t bits) const {
        if (!values_.empty()) {
            return static_cast<double>(values_[bits]);
        }
        const bool negative =
            data_type_name(type_).starts_with("int") && (bits >> (bits_ - 1)) != 0;
        return static_cast<double>(bits) - (negative ? static_cast<double>(1U << bits_) : 0.0);
    }

    std::int64_t type_;
    unsigned bits_;
    std::vector<float> values_; // by bits, of small floating-point types
};

/// Adds a pair of numbers to a difference.
inline void add_pair(double a, double b, tensor_difference& to) {
    if (a == b || (std::isnan(a) && std::isnan(b))) {
        return;
    }
    ++to.different;
    const auto gap = std::fabs(a - b);
    const auto larger = std::max(std::fabs(a), std::fabs(b));
    constexpr auto infinite = std::numeric_limits<double>::infinity();
    to.absolute = std::max(to.absolute, std::isnan(gap) ? infinite : gap);
    // The difference of large numbers may overflow even if the ratio does not.
    const auto share = std::isfinite(larger) ? std::fabs(a / larger - b / larger) : infinite;
    to.relative = std::max(to.relative, std::isnan(share) ? infinite : share);
}

/// The same for integers, which may not fit a double.
template <class Whole>
void add_wholes(const char* a, const char* b, std::size_t count, tensor_difference& to) {
    for (std::size_t i = 0; i < count; ++i) {
        Whole x = 0;
        Whole y = 0;
        std::memcpy(&x, a + i * sizeof(Whole), sizeof(Whole));
        std::memcpy(&y, b + i * sizeof(Whole), sizeof(Whole));
        if (x != y) {
            const auto gap = static_cast<double>(
                x < y ? static_cast<std::uint64_t>(y) - static_cast<std::uint64_t>(x)
                      : static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y));
            const auto larger =
                std::max(std::fabs(static_cast<double>(x)), std::fabs(static_cast<double>(y)));
            ++to.different;
            to.absolute = std::max(to.absolute, gap);
            to.relative = std::max(to.relative, gap / larger);
        }
    }
}

/// The same for floats, vectorizable: the bits of non-negative floats are ordered like the floats,
/// with NaN last.
inline void add_floats(const char* a, const char* b, std::size_t count, tensor_difference& to) {
    constexpr std::size_t lanes = 16;
    constexpr std::uint32_t no_sign = 0x7fff'ffffU;
    std::array<std::int32_t, lanes> gaps{};
    std::array<std::int32_t, lanes> shares{};
    std::array<std::uint32_t, lanes> unequal{};
    const auto size_bits = [](float x) {
        return static_cast<std::int32_t>(detail::bit_cast<std::uint32_t>(x) & no_sign);
    };
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        std::array<float, lanes> x{};
        std::array<float, lanes> y{};
        std::memcpy(x.data(), a + i * sizeof(float), sizeof(x));
        std::memcpy(y.data(), b + i * sizeof(float), sizeof(y));
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const auto gap = x[lane] - y[lane];
            const auto larger =
                detail::bit_cast<float>(std::max(size_bits(x[lane]), size_bits(y[lane])));
            gaps[lane] = std::max(gaps[lane], size_bits(gap));
            // 0 / 0 for equal zeros: the smallest denormal changes no other share.
            const auto share = gap / (larger + std::numeric_limits<float>::denorm_min());
            shares[lane] = std::max(shares[lane], size_bits(share));
            unequal[lane] += x[lane] != y[lane] ? 1U : 0U;
        }
    }
    const auto gap = detail::bit_cast<float>(*std::max_element(gaps.begin(), gaps.end()));
    const auto share = detail::bit_cast<float>(*std::max_element(shares.begin(), shares.end()));
    const bool ordinary = std::isfinite(gap) && std::isfinite(share);
    if (ordinary) {
        to.absolute = std::max(to.absolute, static_cast<double>(gap));
        to.relative = std::max(to.relative, static_cast<double>(share));
        for (auto some : unequal) {
            to.different += some;
        }
    }
    for (i = ordinary ? i : 0; i < count; ++i) {
        float x = 0;
        float y = 0;
        std::memcpy(&x, a + i * sizeof(float), sizeof(float));
        std::memcpy(&y, b + i * sizeof(float), sizeof(float));
        add_pair(static_cast<double>(x), static_cast<double>(y), to);
    }
}

/// Returns: the elementwise difference of two tensors of any types; nothing if they have different
/// sizes, are strings, or lack data. `a` and `b` are in `raw_data` format. Reads each byte once.
/// Complexity: O(data).
[[nodiscard]] inline std::optional<tensor_difference>
measure_difference(const tensor_header& a_header, std::string_view a, const tensor_header& b_header,
                   std::string_view b) {
    using reader = detail::element_reader;
    const auto a_size = data_size(a_header);
    const auto b_size = data_size(b_header);
    const auto numbers = a_header.elements() * reader::numbers_of(a_header.data_type);
    if (!a_size || !b_size || a.size() < *a_size || b.size() < *b_size ||
        a_header.elements() != b_header.elements() ||
        numbers != b_header.elements() * reader::numbers_of(b_header.data_type)) {
        return std::nullopt;
    }
    tensor_difference difference;
    difference.elements = a_header.elements();
    const bool same_type = a_header.data_type == b_header.data_type;
    const auto type = data_type_name(a_header.data_type);
    const bool floats = same_type && (type == "float32" || type == "complex64");
    const auto width = bits_of_type(a_header.data_type) / reader::numbers_of(a_header.data_type);
    const reader read_a(a_header.data_type);
    const reader read_b(b_header.data_type);
    std::array<double, detail::compared_block> x{};
    std::array<double, detail::compared_block> y{};
    for (std::uint64_t first = 0; first < numbers; first += detail::compared_block) {
        const auto count = static_cast<std::size_t>(
            std::min<std::uint64_t>(detail::compared_block, numbers - first));
        if (same_type) {
            const auto from = static_cast<std::size_t>(first * width / 8);
            const auto bytes = static_cast<std::size_t>((count * width + 7) / 8);
            if (std::memcmp(a.data() + from, b.data() + from, bytes) == 0) {
                continue;
            }
            if (floats) {
                detail::add_floats(a.data() + from, b.data() + from, count, difference);
                continue;
            }
            if (type == "int64") {
                detail::add_wholes<std::int64_t>(a.data() + from, b.data() + from, count,
                                                 difference);
                continue;
            }
            if (type == "uint64") {
                detail::add_wholes<std::uint64_t>(a.data() + from, b.data() + from, count,
                                                  difference);
                continue;
            }
        }
        read_a.read(a, first, count, x.data());
        read_b.read(b, first, count, y.data());
        for (std::size_t i = 0; i < count; ++i) {
            detail::add_pair(x[i], y[i], difference);
        }
    }
    return difference;
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_TENSOR_DIFFERENCE_HPP
