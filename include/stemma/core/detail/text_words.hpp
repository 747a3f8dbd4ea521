// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_TEXT_WORDS_HPP
#define STEMMA_CORE_DETAIL_TEXT_WORDS_HPP

#include <stemma/core/detail/hash.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// The highest bit of each byte of a word.
inline constexpr std::uint64_t top_bits = 0x8080'8080'8080'8080U;

/// Returns: the highest bit of each byte of `word` that is the ASCII character `c`.
[[nodiscard]] constexpr std::uint64_t bytes_equal(std::uint64_t word, char c) noexcept {
    constexpr std::uint64_t ones = 0x0101'0101'0101'0101U;
    const auto differing = word ^ ones * static_cast<unsigned char>(c);
    return ~(((differing & ~top_bits) + ~top_bits) | differing) & top_bits;
}

/// Returns: the length of the prefix that two texts share. Complexity: O(length).
[[nodiscard]] inline std::size_t shared_prefix(std::string_view a, std::string_view b) noexcept {
    const auto size = std::min(a.size(), b.size());
    std::size_t at = 0;
    while (at + 8 <= size && load64(a.data() + at) == load64(b.data() + at)) {
        at += 8;
    }
    while (at < size && a[at] == b[at]) {
        ++at;
    }
    return at;
}

/// Calls `f(word)` for all characters of a text, eight in each word, in no particular order; some
/// occur twice, a short text is followed by zeros. Complexity: O(length).
template <class Function>
void for_each_word(std::string_view text, Function f) {
    if (text.size() < 8) {
        std::uint64_t word = 0;
        if (!text.empty()) { // null, maybe
            std::memcpy(&word, text.data(), text.size());
        }
        f(word);
        return;
    }
    for (std::size_t at = 0; at + 8 < text.size(); at += 8) {
        f(load64(text.data() + at));
    }
    f(load64(text.data() + text.size() - 8));
}

/// Calls `f(word, next)` for the neighbours in a text: a byte of `next` is the character after the
/// one in that byte of `word`. Otherwise as `for_each_word`.
template <class Function>
void for_each_word_pair(std::string_view text, Function f) {
    if (text.size() < 9) {
        std::uint64_t word = 0;
        std::uint64_t next = 0;
        if (!text.empty()) {
            std::memcpy(&word, text.data(), text.size() - 1);
            std::memcpy(&next, text.data() + 1, text.size() - 1);
        }
        f(word, next);
        return;
    }
    for (std::size_t at = 0; at + 9 < text.size(); at += 8) {
        f(load64(text.data() + at), load64(text.data() + at + 1));
    }
    f(load64(text.data() + text.size() - 9), load64(text.data() + text.size() - 8));
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_TEXT_WORDS_HPP
