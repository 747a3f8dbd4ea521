// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_IO_DETAIL_XXH64_HPP
#define STEMMA_IO_DETAIL_XXH64_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

// Words are read from the text in the byte order of the specification.
static_assert(std::endian::native == std::endian::little);

/// A hash that may be written to files: XXH64 (the xxHash specification, version 0.1.1), as `xxhsum
/// -H64` prints it.
///
/// libxxhash would be another dependency and gain nothing: this hashes as fast as memory is copied
/// (bench/io/detail/xxh64_bench.cpp). It detects accidents, not adversaries.
class xxh64_digest {
public:
    xxh64_digest() noexcept : rest_() {}

    /// Appends bytes. Complexity: O(bytes).
    void add(std::string_view bytes) noexcept {
        size_ += bytes.size();
        if (waiting_ > 0) {
            const auto taken = std::min(bytes.size(), block - waiting_);
            std::memcpy(rest_ + waiting_, bytes.data(), taken);
            waiting_ += taken;
            bytes.remove_prefix(taken);
            if (waiting_ < block) {
                return;
            }
            take_block(rest_);
            waiting_ = 0;
        }
        for (; bytes.size() >= block; bytes.remove_prefix(block)) {
            take_block(bytes.data());
        }
        if (!bytes.empty()) {
            std::memcpy(rest_, bytes.data(), bytes.size());
        }
        waiting_ = bytes.size();
    }

    /// Returns: the hash of all bytes so far. Complexity: O(1).
    [[nodiscard]] std::uint64_t value() const noexcept { return finish(rest_, waiting_); }

    /// Returns: the hash of `bytes` alone, without a copy. Complexity: O(bytes).
    [[nodiscard]] static std::uint64_t of(std::string_view bytes) noexcept {
        xxh64_digest digest(bytes.size());
        for (; bytes.size() >= block; bytes.remove_prefix(block)) {
            digest.take_block(bytes.data());
        }
        return digest.finish(bytes.data(), bytes.size());
    }

private:
    static constexpr std::uint64_t p1 = 0x9e37'79b1'85eb'ca87U;
    static constexpr std::uint64_t p2 = 0xc2b2'ae3d'27d4'eb4fU;
    static constexpr std::uint64_t p3 = 0x1656'67b1'9e37'79f9U;
    static constexpr std::uint64_t p4 = 0x85eb'ca77'c2b2'ae63U;
    static constexpr std::uint64_t p5 = 0x27d4'eb2f'1656'67c5U;
    static constexpr std::size_t block = 32;

    /// Of so many bytes, which are never put into `rest_`.
    explicit xxh64_digest(std::uint64_t size) noexcept : size_(size) {}

    [[nodiscard]] static constexpr std::uint64_t rotate(std::uint64_t x, unsigned by) noexcept {
        return x << by | x >> (64U - by);
    }
    [[nodiscard]] static constexpr std::uint64_t round(std::uint64_t lane,
                                                       std::uint64_t word) noexcept {
        return rotate(lane + word * p2, 31) * p1;
    }
    template <class Word>
    [[nodiscard]] static std::uint64_t read(const char* p) noexcept {
        Word word = 0;
        std::memcpy(&word, p, sizeof word);
        return word;
    }
    /// `p` are the last bytes, less than a block.
    [[nodiscard]] std::uint64_t finish(const char* p, std::size_t remaining) const noexcept {
        std::uint64_t hash = p5;
        if (size_ >= block) {
            hash = rotate(lanes_[0], 1) + rotate(lanes_[1], 7) + rotate(lanes_[2], 12) +
                   rotate(lanes_[3], 18);
            for (auto lane : lanes_) {
                hash = (hash ^ round(0, lane)) * p1 + p4;
            }
        }
        hash += size_;
        for (; remaining >= 8; p += 8, remaining -= 8) {
            hash = rotate(hash ^ round(0, read<std::uint64_t>(p)), 27) * p1 + p4;
        }
        if (remaining >= 4) {
            hash = rotate(hash ^ (read<std::uint32_t>(p) * p1), 23) * p2 + p3;
            p += 4;
            remaining -= 4;
        }
        for (; remaining > 0; ++p, --remaining) {
            hash = rotate(hash ^ (static_cast<unsigned char>(*p) * p5), 11) * p1;
        }
        hash = (hash ^ hash >> 33U) * p2;
        hash = (hash ^ hash >> 29U) * p3;
        return hash ^ hash >> 32U;
    }

    void take_block(const char* p) noexcept {
        for (unsigned i = 0; i < 4; ++i) {
            lanes_[i] = round(lanes_[i], read<std::uint64_t>(p + std::size_t{8} * i));
        }
    }

    std::uint64_t lanes_[4] = {p1 + p2, p2, 0, 0 - p1};
    std::uint64_t size_ = 0;
    std::size_t waiting_ = 0;
    char rest_[block]; // the bytes behind the last block
};

/// Returns: the hash of `bytes`. Complexity: O(bytes).
[[nodiscard]] inline std::uint64_t xxh64(std::string_view bytes) noexcept {
    return xxh64_digest::of(bytes);
}

/// Returns: a hash as 16 hexadecimal digits. Complexity: O(1).
[[nodiscard]] inline std::string to_hex(std::uint64_t hash) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (unsigned shift = 64; shift > 0; shift -= 4) {
        text.push_back(digits[hash >> (shift - 4) & 15U]);
    }
    return text;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_IO_DETAIL_XXH64_HPP
