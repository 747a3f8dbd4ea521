// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_TEXT_LIST_HPP
#define STEMMA_CORE_TEXT_LIST_HPP

#include <stemma/config.hpp>
#include <stemma/core/glob.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Returns: the elements of a comma-separated list, without empty ones. A comma in the braces of a
/// glob does not separate: `{Linear,Conv2d},Block` are two. Complexity: O(length).
[[nodiscard]] inline std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> parts;
    bool closes = true; // the next brace, as far as is known
    while (!text.empty()) {
        std::size_t end = 0;
        while (end < text.size() && text[end] != ',') {
            const bool opens = closes && text[end] == '{';
            const auto braces = opens ? detail::end_of_braces(text.substr(end)) : 0;
            closes = closes && (!opens || braces != 0);
            end += std::max<std::size_t>(braces, 1);
        }
        if (end != 0) {
            parts.emplace_back(text.substr(0, end));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

namespace detail {

/// Removes the front of a text with the mark behind it. Returns: the front; the whole text if it
/// has no such mark. Complexity: O(length).
constexpr std::string_view take_until(std::string_view& text, char mark) noexcept {
    const auto front = text.substr(0, text.find(mark));
    text.remove_prefix(std::min(text.size(), front.size() + 1));
    return front;
}

/// Returns: the elements, separated by commas. Complexity: O(length).
[[nodiscard]] inline std::string join_list(const std::vector<std::string>& parts,
                                           std::string_view between = ",") {
    std::string text;
    for (const auto& part : parts) {
        text.append(text.empty() ? "" : between).append(part);
    }
    return text;
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_TEXT_LIST_HPP
