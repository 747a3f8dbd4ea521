// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_XXH64_HPP
#define STEMMA_CORE_XXH64_HPP

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace stemma {

namespace detail {

struct xxh64_state {
    static constexpr std::uint64_t p1 = 0x9e37'79b1'85eb'ca87U;
    static constexpr std::uint64_t p2 = 0xc2b2'ae3d'27d4'eb4fU;
    static constexpr std::uint64_t p3 = 0x1656'67b1'9e37'79f9U;
    static constexpr std::uint64_t p4 = 0x85eb'ca77'c2b2'ae63U;
    static constexpr std::uint64_t p5 = 0x27d4'eb2f'1656'67c5U;

    [[nodiscard]] static constexpr std::uint64_t rotate(std::uint64_t x, unsigned by) noexcept {
        return x << by | x >> (64U - by);
    }
    [[nodiscard]] static constexpr std::uint64_t round(std::uint64_t lane,
                                                       std::uint64_t word) noexcept {
        return rotate(lane + word * p2, 31) * p1;
    }
    [[nodiscard]] static constexpr std::uint64_t merge(std::uint64_t hash,
                                                       std::uint64_t lane) noexcept {
        return (hash ^ round(0, lane)) * p1 + p4;
    }
    template <class Word>
    [[nodiscard]] static std::uint64_t read(const char* p) noexcept {
        Word word = 0;
        std::memcpy(&word, p, sizeof word);
        return word;
    }
};

} // namespace detail

/// A hash of all bytes that may be written to files: XXH64 (the xxHash specification, version
/// 0.1.1), as `xxhsum -H64` prints it.
///
/// Not for adversaries: it finds accidents. Requires: a little-endian machine. Complexity:
/// O(bytes).
[[nodiscard]] inline std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed = 0) noexcept {
    using s = detail::xxh64_state;
    const char* p = bytes.data();
    auto left = bytes.size();
    std::uint64_t hash = seed + s::p5;
    if (left >= 32) {
        std::uint64_t lanes[4] = {seed + s::p1 + s::p2, seed + s::p2, seed, seed - s::p1};
        for (; left >= 32; p += 32, left -= 32) {
            for (unsigned i = 0; i < 4; ++i) {
                lanes[i] = s::round(lanes[i], s::read<std::uint64_t>(p + 8 * i));
            }
        }
        hash = s::rotate(lanes[0], 1) + s::rotate(lanes[1], 7) + s::rotate(lanes[2], 12) +
               s::rotate(lanes[3], 18);
        for (auto lane : lanes) {
            hash = s::merge(hash, lane);
        }
    }
    hash += bytes.size();
    for (; left >= 8; p += 8, left -= 8) {
        hash = s::rotate(hash ^ s::round(0, s::read<std::uint64_t>(p)), 27) * s::p1 + s::p4;
    }
    if (left >= 4) {
        hash = s::rotate(hash ^ (s::read<std::uint32_t>(p) * s::p1), 23) * s::p2 + s::p3;
        p += 4;
        left -= 4;
    }
    for (; left > 0; ++p, --left) {
        hash = s::rotate(hash ^ (static_cast<unsigned char>(*p) * s::p5), 11) * s::p1;
    }
    hash = (hash ^ hash >> 33U) * s::p2;
    hash = (hash ^ hash >> 29U) * s::p3;
    return hash ^ hash >> 32U;
}

/// Returns: a hash as 16 hexadecimal digits.
[[nodiscard]] inline std::string to_hex(std::uint64_t hash) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (unsigned shift = 64; shift > 0; shift -= 4) {
        text.push_back(digits[hash >> (shift - 4) & 15U]);
    }
    return text;
}

} // namespace stemma

#endif // STEMMA_CORE_XXH64_HPP
