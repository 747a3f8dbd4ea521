// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_DATA_HASHES_HPP
#define STEMMA_ONNX_DETAIL_DATA_HASHES_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/message_refs.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What does not depend on the order of elements.
struct unordered_content {
    std::uint64_t sum = 0; ///< of the elements' hashes
    std::uint64_t nonzero = 0;
};

/// Returns: a hash of one element: of up to 32 bits by one multiplication that SSE2 has.
template <class Word>
[[nodiscard]] constexpr std::uint64_t hash_element(Word word) noexcept {
    if constexpr (sizeof(Word) == 8) {
        auto mixed = (word + 0x9e37'79b9'7f4a'7c15U) * 0xbf58'476d'1ce4'e5b9U;
        mixed = (mixed ^ mixed >> 29U) * 0x94d0'49bb'1331'11ebU;
        return mixed ^ mixed >> 32U;
    } else {
        const std::uint32_t moved = std::uint32_t{word} + 0x7f4a'7c15U;
        const auto mixed = std::uint64_t{moved} * 0x9e37'79b1U;
        return mixed ^ mixed >> 32U;
    }
}

/// Complexity: O(elements).
template <class Word>
[[nodiscard]] unordered_content unordered_content_of(std::string_view bytes) noexcept {
    unordered_content result;
    for (std::size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
        Word word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        result.sum += hash_element(word);
        result.nonzero += word == 0 ? 0U : 1U;
    }
    return result;
}

[[nodiscard]] inline unordered_content unordered_content_of(std::string_view bytes,
                                                            unsigned bits) noexcept {
    switch (bits) {
    case 64:
        return unordered_content_of<std::uint64_t>(bytes);
    case 32:
        return unordered_content_of<std::uint32_t>(bytes);
    case 16:
        return unordered_content_of<std::uint16_t>(bytes);
    case 8:
        return unordered_content_of<std::uint8_t>(bytes);
    default:
        return {};
    }
}

/// Returns: the sum of the elements' hashes alone.
[[nodiscard]] inline std::uint64_t sum_of_elements(std::string_view bytes, unsigned bits) noexcept {
    return unordered_content_of(bytes, bits).sum;
}

/// Hashes the signs of floating-point numbers in relation to the first one of each slice.
///
/// Data come in parts; the hash depends on where they are divided.
class sign_hasher {
public:
    /// Numbers are little-endian words of `width` bytes. Requires: `width` is 2, 4 or 8.
    sign_hasher(std::size_t width, std::uint64_t slice) noexcept : width_(width), slice_(slice) {}

    /// Appends whole numbers. Complexity: O(bytes).
    void add(std::string_view bytes) noexcept {
        while (bytes.size() >= width_) {
            if (in_slice_ == 0) {
                first_ = sign(bytes);
            }
            if (in_slice_ + block <= slice_ && bytes.size() >= block * width_) {
                take(block_signs(bytes.data()) ^ (std::uint64_t{0} - first_));
                pass(bytes, block);
            } else {
                signs_ = signs_ << 1U | (sign(bytes) ^ first_);
                if (++waiting_ == block) {
                    take(signs_);
                    waiting_ = 0;
                }
                pass(bytes, 1);
            }
        }
    }

    /// Returns: the hash of all numbers so far; 0 if too few differ to be distinctive.
    [[nodiscard]] std::uint64_t value() const noexcept {
        const auto waiting = waiting_ == 0 ? 0 : signs_ << (block - waiting_);
        constexpr std::uint64_t least_changes = 32;
        return changes_ + static_cast<std::uint64_t>(std::popcount(waiting)) < least_changes
                   ? 0
                   : hash_mix(result_, waiting);
    }

private:
    static constexpr std::size_t block = 64;

    [[nodiscard]] std::uint64_t sign(std::string_view bytes) const noexcept {
        return static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[width_ - 1]) >> 7U);
    }
    [[nodiscard]] std::uint64_t block_signs(const char* bytes) const noexcept {
        return width_ == 4   ? block_signs<4>(bytes)
               : width_ == 2 ? block_signs<2>(bytes)
                             : block_signs<8>(bytes);
    }
    template <std::size_t Width>
    [[nodiscard]] static std::uint64_t block_signs(const char* bytes) noexcept {
        constexpr auto sign_bits = Width == 2   ? 0x8000'8000'8000'8000U
                                   : Width == 4 ? 0x8000'0000'8000'0000U
                                                : 0x8000'0000'0000'0000U;
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < 8 * Width; ++i) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes + 8 * i, sizeof word);
            result |= (word & sign_bits) >> i;
        }
        return result;
    }
    void take(std::uint64_t signs) noexcept {
        result_ = hash_mix(result_, signs);
        changes_ += static_cast<std::uint64_t>(std::popcount(signs));
    }
    void pass(std::string_view& bytes, std::size_t count) noexcept {
        bytes.remove_prefix(count * width_);
        in_slice_ = in_slice_ + count == slice_ ? 0 : in_slice_ + count;
    }

    std::size_t width_;
    std::uint64_t slice_;
    std::uint64_t result_ = 1;
    std::uint64_t changes_ = 0;
    std::uint64_t first_ = 0; // sign of the slice's first number
    std::uint64_t in_slice_ = 0;
    std::uint64_t signs_ = 0; // of numbers outside of whole blocks
    std::size_t waiting_ = 0;
};

/// How the data of a tensor are hashed.
struct data_layout {
    std::uint64_t seed = 0;  ///< a hash of type and shape
    std::uint64_t slice = 1; ///< elements per step of the first dimension
    unsigned bits = 0;       ///< of an element; 0 for too few elements to be distinctive
    bool has_signs = false;

    explicit data_layout(const tensor_header& header)
        : seed(hash_mix(static_cast<std::uint64_t>(header.data_type), header.dims.size())) {
        for (const auto extent : header.dims) {
            seed = hash_mix(seed, static_cast<std::uint64_t>(extent));
        }
        constexpr std::uint64_t least_elements = 8;
        if (!header.dims.empty() && header.elements() >= least_elements) {
            bits = bits_of_type(header.data_type);
            slice = header.elements() / static_cast<std::uint64_t>(header.dims[0]);
        }
        has_signs = bits >= 16 && header.dims.size() > 1 && is_floating(header.data_type);
    }

    [[nodiscard]] sign_hasher signs() const noexcept {
        return {has_signs ? bits / 8 : sizeof(std::uint64_t), slice};
    }

private:
    [[nodiscard]] static bool is_floating(std::int64_t type) noexcept {
        return type == 1 || type == 10 || type == 11 || type == 16;
    }
};

/// Data are hashed in parts that stay in the first-level cache.
inline constexpr std::size_t hashed_part = std::size_t{1} << 14U;

/// Calls `f(part)` for the data in order.
template <class Function>
void for_each_part_of(std::string_view bytes, Function f) {
    for (std::size_t at = 0; at < bytes.size(); at += hashed_part) {
        f(bytes.substr(at, hashed_part));
    }
}

/// Returns: see `content_hasher`. Complexity: O(bytes), which are read once.
[[nodiscard]] inline content_hash hash_data(const data_layout& layout, std::string_view bytes) {
    xxh64_digest digest;
    auto signs = layout.signs();
    content_hash result;
    for_each_part_of(bytes, [&](std::string_view part) {
        digest.add(part);
        const auto unordered = unordered_content_of(part, layout.bits);
        result.loose += unordered.sum;
        result.nonzero += unordered.nonzero;
        if (layout.has_signs) {
            signs.add(part);
        }
    });
    result.exact = hash_mix(layout.seed, digest.value()) | 1U;
    if (const auto scaled = layout.has_signs ? signs.value() : 0; scaled != 0) {
        result.scaled = hash_mix(layout.seed, scaled);
    }
    return result;
}

/// What equal data have in common in any order: much cheaper than a hash, and less distinctive.
struct element_sums {
    std::uint64_t total = 0; ///< of the elements, modulo their number of values
    std::uint64_t nonzero = 0;
};

/// Requires: at most `hashed_part` bytes. Complexity: O(bytes).
template <class Word>
[[nodiscard]] element_sums sums_of(std::string_view part) noexcept {
    // Counters as wide as elements, so that vectors hold as many; a byte would overflow.
    using counter = std::conditional_t<sizeof(Word) == 1, std::uint32_t, Word>;
    counter total = 0;
    counter zeros = 0;
    const auto count = part.size() / sizeof(Word);
    for (std::size_t i = 0; i < count; ++i) {
        Word word = 0;
        std::memcpy(&word, part.data() + i * sizeof word, sizeof word);
        total = static_cast<counter>(total + word);
        zeros = static_cast<counter>(zeros + (word == 0 ? 1U : 0U));
    }
    return {total, count - zeros};
}

/// Complexity: O(bytes), which are read once.
[[nodiscard]] inline element_sums sums_of(std::string_view bytes, unsigned bits) noexcept {
    element_sums result;
    for_each_part_of(bytes, [&](std::string_view part) {
        const auto some = bits == 64   ? sums_of<std::uint64_t>(part)
                          : bits == 32 ? sums_of<std::uint32_t>(part)
                          : bits == 16 ? sums_of<std::uint16_t>(part)
                          : bits == 8  ? sums_of<std::uint8_t>(part)
                                       : element_sums();
        result.total += some.total;
        result.nonzero += some.nonzero;
    });
    if (bits == 16 || bits == 32) {
        result.total &= (std::uint64_t{1} << bits) - 1;
    }
    return result;
}

/// Hashes the contents of a model's tensors, wherever and however they are stored.
class content_hasher {
public:
    /// Requires: `model` outlives this.
    explicit content_hasher(const wire_model& model) : reader_(model) {}

    /// Returns: three hashes; 0 if the data are missing or, except for the first, if there are too
    /// few elements to be distinctive. Complexity: O(bytes).
    [[nodiscard]] content_hash hash(const tensor_ref& tensor) {
        const auto content = reader_.read(tensor);
        if (!content.readable || tensor.sparse) {
            return {};
        }
        return hash_data(data_layout(content.header), content.bytes());
    }

private:
    tensor_content_reader reader_;
};

/// Returns: the hashes of all initializers, numbered as in `wire_model::tensors`. Data are read
/// once, in sequence. Complexity: O(bytes).
[[nodiscard]] inline std::vector<content_hash> hash_contents(const wire_model& model) {
    const auto tensors = model.tensors();
    std::vector<content_hash> result(tensors.size());
    const auto parts = thread_limit::current().parts_of_tensors(tensors.size());
    for_each_range(tensors.size(), parts, [&](std::size_t, std::size_t begin, std::size_t end) {
        content_hasher hasher(model);
        for (auto i = begin; i < end; ++i) {
            result[i] = hasher.hash(tensors[i]);
        }
    });
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_DATA_HASHES_HPP
