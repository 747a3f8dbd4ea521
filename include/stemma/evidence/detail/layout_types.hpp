// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_LAYOUT_TYPES_HPP
#define STEMMA_EVIDENCE_DETAIL_LAYOUT_TYPES_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether an operator type only rearranges its input.
[[nodiscard]] inline bool is_layout(std::string_view type) {
    constexpr std::array<std::string_view, 5> types{"Transpose", "Reshape", "Squeeze", "Unsqueeze",
                                                    "Flatten"};
    return std::find(types.begin(), types.end(), type) != types.end();
}

/// Whether operators of a type convert between layouts of a runtime, which inserts them.
[[nodiscard]] inline bool is_conversion(std::string_view type) {
    return type == "ReorderInput" || type == "ReorderOutput";
}

/// Whether operators of a type convert between numbers and integers with a scale, which quantizers
/// insert.
[[nodiscard]] inline bool is_quantization(std::string_view type) {
    return type == "QuantizeLinear" || type == "DequantizeLinear" ||
           type == "DynamicQuantizeLinear";
}

/// Whether operators of a type multiply integers by a matrix or a kernel, which quantizers put in
/// place of a product of numbers.
[[nodiscard]] inline bool is_integer_product(std::string_view type) {
    return type == "MatMulInteger" || type == "ConvInteger";
}

/// Whether operators of a type multiply numbers by a matrix that is stored in blocks of a few bits.
[[nodiscard]] inline bool is_packed_product(std::string_view type) {
    return type.ends_with("NBits") || type.ends_with("Bnb4") || type.ends_with("FpQ4");
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_LAYOUT_TYPES_HPP
