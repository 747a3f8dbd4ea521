// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_HASH_HPP
#define STEMMA_CORE_DETAIL_HASH_HPP

#include <stemma/config.hpp>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

__extension__ using uint128 = unsigned __int128;

[[nodiscard]] constexpr std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) noexcept {
    const auto product = static_cast<uint128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

[[nodiscard]] inline std::uint64_t load64(const char* p) noexcept {
    std::uint64_t x = 0;
    std::memcpy(&x, p, 8);
    return x;
}

[[nodiscard]] inline std::uint64_t load32(const char* p) noexcept {
    std::uint32_t x = 0;
    std::memcpy(&x, p, 4);
    return x;
}

inline constexpr std::uint64_t hash_key0 = 0x9e37'79b9'7f4a'7c15U;
inline constexpr std::uint64_t hash_key1 = 0xbf58'476d'1ce4'e5b9U;

/// Mixes two words into one; every bit of either affects every bit of the result.
[[nodiscard]] constexpr std::uint64_t hash_mix(std::uint64_t a, std::uint64_t b) noexcept {
    return detail::fold_multiply(a ^ detail::hash_key0, b ^ detail::hash_key1);
}

/// The FNV-1a hash of a text, or of its concatenation to a text whose hash is `before`. Stable
/// across platforms, so it may be stored. Complexity: one multiplication per byte.
[[nodiscard]] constexpr std::uint64_t
fnv1a(std::string_view text, std::uint64_t before = 0xcbf2'9ce4'8422'2325U) noexcept {
    for (char c : text) {
        before = (before ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3U;
    }
    return before;
}

/// A 64-bit hash of all bytes. May change between versions: never write it to a file.
///
/// Complexity: one multiplication per 16 bytes (folded multiply, as in wyhash).
[[nodiscard]] inline std::uint64_t hash_bytes(std::string_view text,
                                              std::uint64_t seed = 0) noexcept {
    const char* p = text.data();
    auto remaining = text.size();
    auto h = seed ^ detail::hash_key0 ^ remaining;
    for (; remaining > 16; p += 16, remaining -= 16) {
        h = detail::fold_multiply(detail::load64(p) ^ detail::hash_key1, detail::load64(p + 8) ^ h);
    }
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    if (remaining >= 8) {
        a = detail::load64(p);
        b = detail::load64(p + remaining - 8);
    } else if (remaining >= 4) {
        a = detail::load32(p);
        b = detail::load32(p + remaining - 4);
    } else if (remaining > 0) {
        a = static_cast<unsigned char>(p[0]) |
            (static_cast<std::uint64_t>(static_cast<unsigned char>(p[remaining / 2])) << 8U) |
            (static_cast<std::uint64_t>(static_cast<unsigned char>(p[remaining - 1])) << 16U);
    }
    return detail::fold_multiply(detail::hash_key1 ^ text.size(),
                                 detail::fold_multiply(a ^ detail::hash_key1, b ^ h));
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_HASH_HPP
