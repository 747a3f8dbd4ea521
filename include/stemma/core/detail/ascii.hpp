// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_ASCII_HPP
#define STEMMA_CORE_DETAIL_ASCII_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

// Independent of the locale, unlike <cctype>.

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

[[nodiscard]] constexpr bool is_capital(char c) noexcept {
    return c >= 'A' && c <= 'Z';
}

[[nodiscard]] constexpr bool is_alphanumeric(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'z') || is_capital(c);
}

[[nodiscard]] constexpr char to_lower(char c) noexcept {
    return is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Returns: a text in lower case. Complexity: O(length).
[[nodiscard]] inline std::string to_lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) { return to_lower(c); });
    return text;
}

/// As `text.starts_with(stem)`, whose comparison libstdc++ 12 does not inline.
[[nodiscard]] constexpr bool begins_with(std::string_view text, std::string_view stem) noexcept {
    return text.size() >= stem.size() &&
           std::char_traits<char>::compare(text.data(), stem.data(), stem.size()) == 0;
}

/// `a == b`, without a call where sizes differ or both are empty: some compilers call out of line
/// for the standard's.
[[nodiscard]] constexpr bool is_same_text(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() &&
           (a.empty() || std::char_traits<char>::compare(a.data(), b.data(), a.size()) == 0);
}

/// Whether a text consists of digits, like a segment that is an index into a list.
[[nodiscard]] constexpr bool is_number(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_ASCII_HPP
