// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_WEIGHT_MATRIX_HPP
#define STEMMA_ONNX_DETAIL_WEIGHT_MATRIX_HPP

#include <stemma/config.hpp>

#include <cstdint>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether a type, a number in TensorProto.DataType, may be that of a weight: it is neither string,
/// 32-bit or 64-bit integer nor boolean.
[[nodiscard]] constexpr bool is_weight_type(std::int64_t data_type) noexcept {
    constexpr std::int64_t int32 = 6;
    constexpr std::int64_t boolean = 9; // int64 and string between them
    return data_type < int32 || data_type > boolean;
}

/// Whether a tensor must be a weight: it has two or more extents above one, and a weight's type.
template <class Extents>
[[nodiscard]] constexpr bool is_weight_matrix(std::int64_t data_type,
                                              const Extents& dims) noexcept {
    int rank = 0;
    int wide = 0;
    for (const auto dim : dims) {
        ++rank;
        wide += dim > 1 ? 1 : 0;
    }
    return (wide > 1 || (wide == 1 && rank == 2)) && is_weight_type(data_type);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_WEIGHT_MATRIX_HPP
