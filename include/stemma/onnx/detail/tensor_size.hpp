// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_TENSOR_SIZE_HPP
#define STEMMA_ONNX_DETAIL_TENSOR_SIZE_HPP

#include <stemma/onnx/tensor_header.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the number of bits per element of a data type; 0 for strings and unknown types.
[[nodiscard]] constexpr unsigned bits_of_type(std::int64_t data_type) noexcept {
    constexpr std::array<unsigned, 27> bits{0,  32,  8,  8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64,
                                            64, 128, 16, 8, 8,  8,  8,  4,  4, 4, 8,  2,  2};
    return data_type > 0 && data_type < 27 ? bits[static_cast<std::size_t>(data_type)] : 0;
}

/// Whether an integer type is narrow enough to represent real numbers: at most 16 bits.
[[nodiscard]] constexpr bool is_narrow_type(std::int64_t data_type) noexcept {
    constexpr data_types narrow([](std::int64_t type) {
        const auto name = data_type_name(type);
        return (name.starts_with("int") || name.starts_with("uint")) && bits_of_type(type) <= 16;
    });
    return narrow.contain(data_type);
}

/// Returns: the size of a tensor's data in bytes by type and dims, elements of less than a byte
/// packed; nothing if unknown or if it exceeds 64 bits.
/// Complexity: O(rank).
[[nodiscard]] inline std::optional<std::uint64_t> data_size(const tensor_header& header) noexcept {
    const std::uint64_t bits = bits_of_type(header.data_type);
    std::uint64_t elements = 1;
    for (auto dim : header.dims) {
        if (dim < 0 ||
            __builtin_mul_overflow(elements, static_cast<std::uint64_t>(dim), &elements)) {
            return std::nullopt;
        }
    }
    if (bits == 0 || elements > ~std::uint64_t{0} / bits - 1) {
        return std::nullopt;
    }
    return (elements * bits + 7) / 8;
}

/// Returns: the size of external data in bytes: the declared one, else by type and dims; nothing if
/// neither is known, so that they extend to the end of their file. Complexity: O(rank).
[[nodiscard]] inline std::optional<std::uint64_t>
external_size(const tensor_header& header) noexcept {
    return header.length != 0 ? std::optional(header.length) : data_size(header);
}

/// Returns: the same for data in a file of that size; the rest of it if neither is known.
[[nodiscard]] inline std::uint64_t external_size(const tensor_header& header,
                                                 std::uint64_t file_size) noexcept {
    const auto rest = header.offset <= file_size ? file_size - header.offset : 0;
    return external_size(header).value_or(rest);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_TENSOR_SIZE_HPP
