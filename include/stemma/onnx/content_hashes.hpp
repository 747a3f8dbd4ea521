// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_CONTENT_HASHES_HPP
#define STEMMA_ONNX_CONTENT_HASHES_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// What does not depend on the order of elements.
struct unordered_content {
    std::uint64_t sum = 0; ///< of the elements' hashes
    std::uint64_t nonzero = 0;
};

/// Complexity: two multiplications per element.
template <class Word>
[[nodiscard]] unordered_content unordered_content_of(std::string_view bytes) noexcept {
    unordered_content result;
    for (std::size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
        Word word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        auto mixed = (std::uint64_t{word} + 0x9e37'79b9'7f4a'7c15U) * 0xbf58'476d'1ce4'e5b9U;
        mixed = (mixed ^ mixed >> 29U) * 0x94d0'49bb'1331'11ebU;
        result.sum += mixed ^ mixed >> 32U;
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

/// Returns: a hash of the signs of floating-point numbers, little-endian words of `width` bytes, in
/// relation to the first one of each slice; 0 if too few differ to be distinctive.
/// Complexity: O(bytes).
[[nodiscard]] inline std::uint64_t hash_signs(std::string_view bytes, std::size_t width,
                                              std::size_t slice) noexcept {
    constexpr std::size_t least_changes = 32;
    std::uint64_t result = 1;
    std::uint64_t signs = 0;
    std::size_t changes = 0;
    std::uint64_t first = 0;
    std::size_t in_slice = 0;
    std::size_t count = 0;
    for (auto at = width - 1; at < bytes.size(); at += width) {
        const auto sign = static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at]) >> 7U);
        first = in_slice == 0 ? sign : first;
        in_slice = in_slice + 1 == slice ? 0 : in_slice + 1;
        signs = signs << 1U | (sign ^ first);
        changes += sign ^ first;
        if (++count % 64 == 0) {
            result = hash_mix(result, signs);
        }
    }
    return changes < least_changes ? 0 : hash_mix(result, signs);
}

} // namespace detail

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
        const auto& header = content.header;
        auto exact =
            detail::hash_mix(static_cast<std::uint64_t>(header.data_type), header.dims.size());
        for (const auto extent : header.dims) {
            exact = detail::hash_mix(exact, static_cast<std::uint64_t>(extent));
        }
        const auto bytes = content.bytes();
        content_hash result{detail::hash_mix(exact, detail::xxh64(bytes)) | 1U};
        if (header.dims.size() > 1 && header.elements() >= least_elements) {
            const auto bits = detail::bits_of_type(header.data_type);
            const auto unordered = detail::unordered_content_of(bytes, bits);
            result.loose = unordered.sum;
            result.nonzero = unordered.nonzero;
            if (bits >= 16 && is_floating(header.data_type)) {
                const auto slice = header.elements() / static_cast<std::uint64_t>(header.dims[0]);
                result.scaled = detail::hash_signs(bytes, bits / 8, slice);
                result.scaled = result.scaled == 0 ? 0 : detail::hash_mix(exact, result.scaled);
            }
        }
        return result;
    }

private:
    [[nodiscard]] static bool is_floating(std::int64_t type) noexcept {
        return type == 1 || type == 10 || type == 11 || type == 16;
    }

    static constexpr std::uint64_t least_elements = 8;

    detail::tensor_content_reader reader_;
};

/// Returns: the hashes of all initializers, numbered as in `wire_model::tensors`. Data are read
/// once, in sequence. Complexity: O(bytes).
[[nodiscard]] inline std::vector<content_hash> hash_contents(const wire_model& model,
                                                             thread_limit threads = {}) {
    const auto tensors = model.tensors();
    std::vector<content_hash> result(tensors.size());
    const auto parts = tensors.size() < 2 ? 1 : threads.parts(std::size_t{1} << 30U);
    for_each_range(tensors.size(), parts, [&](std::size_t, std::size_t begin, std::size_t end) {
        content_hasher hasher(model);
        for (auto i = begin; i < end; ++i) {
            result[i] = hasher.hash(tensors[i]);
        }
    });
    return result;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_CONTENT_HASHES_HPP
