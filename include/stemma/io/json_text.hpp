// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_JSON_TEXT_HPP
#define STEMMA_IO_JSON_TEXT_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/text_words.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: the length of the well-formed UTF-8 sequence that `text` starts with, or 0.
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
        return i < text.size() && byte(i) >= low && byte(i) <= high;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xc2 && lead <= 0xdf) {
        return follows(1) ? 2 : 0;
    }
    if (lead >= 0xe0 && lead <= 0xef) {
        const unsigned low = lead == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = lead == 0xed ? 0x9f : 0xbf;
        return follows(1, low, high) && follows(2) ? 3 : 0;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        const unsigned low = lead == 0xf0 ? 0x90 : 0x80;
        const unsigned high = lead == 0xf4 ? 0x8f : 0xbf;
        return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

/// Returns: whether all of `text` is well-formed UTF-8.
[[nodiscard]] inline bool is_utf8(std::string_view text) noexcept {
    std::uint64_t bits = 0; // most texts are ASCII
    for_each_word(text, [&](std::uint64_t word) { bits |= word; });
    if ((bits & top_bits) == 0) {
        return true;
    }
    while (!text.empty()) {
        const auto length = utf8_length(text);
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

/// Returns: a position before which nothing in `text` needs escaping or UTF-8 validation. Nearly
/// all texts are plain, so eight characters are tested at a time.
[[nodiscard]] inline std::size_t plain_prefix(std::string_view text) noexcept {
    constexpr std::uint64_t ones = 0x0101'0101'0101'0101U;
    const auto any_zero = [](std::uint64_t x) { return (x - ones) & ~x; };
    std::size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) {
        const auto word = load64(text.data() + at);
        const auto controls = (word - 0x20U * ones) & ~word;
        const auto marked =
            word | controls | any_zero(word ^ (ones * '"')) | any_zero(word ^ (ones * '\\'));
        if ((marked & top_bits) != 0) {
            break;
        }
    }
    return at;
}

} // namespace detail

/// Appends `text` as a quoted JSON string. Invalid UTF-8 becomes U+FFFD.
/// Complexity: O(length); runs without special characters are copied whole.
inline void append_json_string(std::string_view text, std::string& out) {
    constexpr std::string_view hex = "0123456789abcdef";
    out.push_back('"');
    std::size_t copied = 0;
    for (std::size_t i = detail::plain_prefix(text); i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            ++i;
            continue;
        }
        const auto length = c < 0x80 ? 0 : detail::utf8_length(text.substr(i));
        if (length != 0) {
            i += length;
            continue;
        }
        out.append(text.substr(copied, i - copied));
        if (c == '"' || c == '\\') {
            out.push_back('\\');
            out.push_back(static_cast<char>(c));
        } else if (c == '\n') {
            out.append("\\n");
        } else if (c == '\t') {
            out.append("\\t");
        } else if (c < 0x20) {
            out.append("\\u00");
            out.push_back(hex[c >> 4U]);
            out.push_back(hex[c & 15U]);
        } else {
            out.append("\xef\xbf\xbd");
        }
        copied = ++i;
    }
    out.append(text.substr(copied));
    out.push_back('"');
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_IO_JSON_TEXT_HPP
