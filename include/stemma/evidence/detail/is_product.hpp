// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_IS_PRODUCT_HPP
#define STEMMA_EVIDENCE_DETAIL_IS_PRODUCT_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>

#include <array>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether an operator type multiplies by a matrix or a kernel, also as runtimes name it:
/// FusedConv, MatMulNBits.
[[nodiscard]] inline bool is_product(std::string_view type) {
    constexpr std::array<std::string_view, 3> products{"Conv", "Gemm", "MatMul"};
    return range::any_of(products,
                         [&](std::string_view product) { return type.find(product) != type.npos; });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_IS_PRODUCT_HPP
