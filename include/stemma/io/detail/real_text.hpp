// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_DETAIL_REAL_TEXT_HPP
#define STEMMA_IO_DETAIL_REAL_TEXT_HPP

// libc++ lacks floating-point std::to_chars before version 14 and std::from_chars before version
// 20; there the C library does the same, whatever its locale.

#include <stemma/config.hpp>
#include <stemma/core/detail/ascii.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <clocale>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace stemma::inline STEMMA_ABI::detail {

/// Enough space for any number that `put_real` writes.
inline constexpr std::size_t real_text_size = 32;

[[nodiscard]] inline float read_as(const char* text, char** end, float) {
    return std::strtof(text, end);
}
[[nodiscard]] inline double read_as(const char* text, char** end, double) {
    return std::strtod(text, end);
}

/// A number's decimal digits without the point, and the power of ten of the last.
struct real_digits {
    std::string digits;
    int exponent = 0;
};

/// Returns: the fewest digits that read back as `number`. Requires: it is finite and not negative.
template <std::floating_point Real>
[[nodiscard]] real_digits shortest_digits(Real number) {
    using limits = std::numeric_limits<Real>;
    // That many digits always survive the round trip, except for numbers near 0.
    const int least = number < limits::min() ? 1 : limits::digits10;
    for (int count = least;; ++count) {
        std::array<char, 64> text{};
        std::snprintf(text.data(), text.size(), "%.*e", count - 1, static_cast<double>(number));
        const bool back = read_as(text.data(), nullptr, Real{}) == number;
        if (!back && count < limits::max_digits10) {
            continue;
        }
        real_digits result;
        const char* at = text.data();
        for (; *at != 'e'; ++at) {
            if (is_digit(*at)) {
                result.digits.push_back(*at);
            }
        }
        result.digits.erase(result.digits.find_last_not_of('0') + 1);
        if (result.digits.empty()) {
            return {"0", 0};
        }
        result.exponent = std::atoi(at + 1) - static_cast<int>(result.digits.size()) + 1;
        return result;
    }
}

/// Returns: what `std::to_chars` would write, made by the C library.
template <std::floating_point Real>
[[nodiscard]] std::string printed_real(Real number) {
    std::string sign = std::signbit(number) ? "-" : "";
    if (!std::isfinite(number)) {
        return sign + (std::isnan(number) ? "nan" : "inf");
    }
    const auto [digits, exponent] = shortest_digits(std::abs(number));
    const auto count = static_cast<int>(digits.size());
    // The shorter of 1234.5 and 1.2345e+03.
    const int alone = count == 1 ? 1 : 0;
    if (exponent < alone - count - 3 || exponent > 5 - alone) {
        const int power = exponent + count - 1;
        std::array<char, 16> tail{};
        std::snprintf(tail.data(), tail.size(), "e%c%02d", power < 0 ? '-' : '+', std::abs(power));
        return sign + digits[0] + (count > 1 ? "." : "") + digits.substr(1) + tail.data();
    }
    if (exponent >= 0) {
        std::array<char, 64> whole{};
        std::snprintf(whole.data(), whole.size(), "%.0f", static_cast<double>(std::abs(number)));
        return sign + whole.data();
    }
    const auto behind = static_cast<std::size_t>(-exponent);
    if (behind >= digits.size()) {
        return sign + "0." + std::string(behind - digits.size(), '0') + digits;
    }
    const auto before = digits.size() - behind;
    return sign + digits.substr(0, before) + "." + digits.substr(before);
}

/// Returns: the length of the number at the start of a text, as `std::from_chars` would read it; 0
/// if there is none.
[[nodiscard]] inline std::size_t length_of_real(std::string_view text) noexcept {
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    const auto rest = text.substr(sign);
    const auto begins = [&](std::string_view word) {
        return rest.size() >= word.size() &&
               std::equal(word.begin(), word.end(), rest.begin(),
                          [](char a, char b) { return a == b || a == b + ('a' - 'A'); });
    };
    for (const std::string_view word : {"infinity", "inf", "nan"}) {
        if (begins(word)) {
            return sign + word.size();
        }
    }
    const auto digits_from = [&](std::size_t at) {
        const auto end = rest.find_first_not_of("0123456789", at);
        return (end == rest.npos ? rest.size() : end) - std::min(at, rest.size());
    };
    auto end = digits_from(0);
    auto count = end;
    if (end < rest.size() && rest[end] == '.') {
        const auto behind = digits_from(end + 1);
        count += behind;
        end += count > 0 ? behind + 1 : 0;
    }
    if (count == 0) {
        return 0;
    }
    if (end < rest.size() && (rest[end] == 'e' || rest[end] == 'E')) {
        const bool has_sign =
            end + 1 < rest.size() && (rest[end + 1] == '-' || rest[end + 1] == '+');
        const auto from = end + 1 + (has_sign ? 1 : 0);
        const auto power = digits_from(from);
        end = power > 0 ? from + power : end;
    }
    return sign + end;
}

/// `std::from_chars` by means of the C library. Complexity: O(length of the number).
template <std::floating_point Real>
std::from_chars_result scan_real(const char* first, const char* last, Real& number) {
    const auto size = length_of_real({first, static_cast<std::size_t>(last - first)});
    if (size == 0) {
        return {first, std::errc::invalid_argument};
    }
    std::string text(first, size);
    if (const auto point = text.find('.'); point != text.npos) {
        text.replace(point, 1, std::localeconv()->decimal_point);
    }
    const auto read = read_as(text.c_str(), nullptr, Real{});
    const bool names_infinity = text.find_first_of("iI") != text.npos;
    if (std::isinf(read) && !names_infinity) {
        return {first + size, std::errc::result_out_of_range};
    }
    number = read;
    return {first + size, std::errc()};
}

/// As `std::from_chars`.
template <std::floating_point Real>
std::from_chars_result read_real(const char* first, const char* last, Real& number) {
#if defined(__cpp_lib_to_chars)
    return std::from_chars(first, last, number);
#else
    return scan_real(first, last, number);
#endif
}

/// Writes the shortest text that reads back as the number. Returns: the end of the text.
/// Requires: room for `real_text_size` characters.
template <std::floating_point Real>
[[nodiscard]] char* put_real(char* to, Real number) {
#if defined(__cpp_lib_to_chars)
    return std::to_chars(to, to + real_text_size, number).ptr;
#else
    const auto text = printed_real(number);
    return std::copy(text.begin(), text.end(), to);
#endif
}

/// Returns: the shortest text that reads back as the number.
template <std::floating_point Real>
[[nodiscard]] std::string real_text(Real number) {
    std::array<char, real_text_size> digits{};
    return {digits.data(), put_real(digits.data(), number)};
}

/// Returns: a number as `std::snprintf` prints it in the C locale; `format` is "%.*f" or alike.
[[nodiscard]] inline std::string printed_text(const char* format, double number, int digits) {
    std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, digits, number)),
                     ' ');
    std::snprintf(text.data(), text.size() + 1, format, digits, number);
    const std::string_view point = std::localeconv()->decimal_point;
    if (const auto at = text.find(point); point != "." && at != text.npos) {
        text.replace(at, point.size(), ".");
    }
    return text;
}

/// Returns: a number with that many digits after the point.
[[nodiscard]] inline std::string fixed_text(double number, int digits) {
    return printed_text("%.*f", number, digits);
}

/// Returns: a number with at most that many significant digits.
[[nodiscard]] inline std::string short_text(double number, int digits) {
    return printed_text("%.*g", number, digits);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_IO_DETAIL_REAL_TEXT_HPP
