// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_DETAIL_BASE64_HPP
#define STEMMA_IO_DETAIL_BASE64_HPP

#include <stemma/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

inline constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns: bytes as text that any format can hold (RFC 4648, padded with `=`).
///
/// Boost's iterators, which neither pad nor validate, take two to three times as long
/// (bench/io/detail/base64_bench.cpp).
/// Complexity: O(length).
[[nodiscard]] inline std::string to_base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto part = bytes.substr(i, 3);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            bits = bits << 8U | (k < part.size() ? static_cast<unsigned char>(part[k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            text.push_back(k <= part.size() ? detail::base64_digits[bits >> (18 - 6 * k) & 63U]
                                            : '=');
        }
    }
    return text;
}

/// Returns: the decoded bytes; nothing unless `to_base64` produces exactly this text.
/// Complexity: O(length).
[[nodiscard]] inline std::optional<std::string> from_base64(std::string_view text) {
    static constexpr std::uint8_t none = 64;
    static constexpr auto values = [] {
        std::array<std::uint8_t, 256> table{};
        table.fill(none);
        for (std::uint8_t i = 0; i < 64; ++i) {
            table[static_cast<unsigned char>(detail::base64_digits[i])] = i;
        }
        return table;
    }();
    if (text.size() % 4 != 0) {
        return std::nullopt;
    }
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        const bool last = i + 4 == text.size();
        const auto digits = 4 - (last ? padding : 0);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const auto value = k < digits ? values[static_cast<unsigned char>(text[i + k])] : 0U;
            if (value == none) {
                return std::nullopt;
            }
            bits = bits << 6U | value;
        }
        for (std::size_t k = 0; k + 1 < digits; ++k) {
            bytes.push_back(static_cast<char>(bits >> (16 - 8 * k) & 255U));
        }
        if ((bits & (digits == 4 ? 0U : digits == 3 ? 255U : 65535U)) != 0) {
            return std::nullopt; // stray bits
        }
    }
    return bytes;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_IO_DETAIL_BASE64_HPP
