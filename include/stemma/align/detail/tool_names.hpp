// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_TOOL_NAMES_HPP
#define STEMMA_ALIGN_DETAIL_TOOL_NAMES_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/text_list.hpp>

#include <cstddef>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Suffixes that tools append to the name of a value or parameter when they derive another one. `#`
/// stands for digits.
inline constexpr std::string_view tool_suffixes = R"(
_nchwc
_bn
_token_#
_quantized
_quantized_zero_point
_quantized_scale
_quant
_scale
_zero_point
_scale_mul
_QuantizeLinear
_QuantizeLinear_Output
_QuantizeLinear_Input
_DequantizeLinear
_DequantizeLinear_Output
_DynamicQuantizeLinear
_ReduceMin
_ReduceMax
_output_quantized
_output_quantized_cast
_quantized_cast
_MatMulInteger
_ConvInteger
_matmul
_cast_#
_cast_to_float16
_cast_to_float32
_cast_to_fp16
_cast_to_fp32
_to_fp16
_to_fp32
_fp16
_fp32
_bf16
_transposed
_transpose
_transpose_optimized
_T
_Q4
_Q4G#
_DQ_Q4
_bias_reshape_output
_qdq
_quantize
_dequantize
_q
_dq
/duplicated
_copy
_fused
)";

/// Prefixes, likewise.
inline constexpr std::string_view tool_prefixes = R"(
graph_input_cast_
graph_output_cast_
InsertedPrecisionFreeCast_
InsertedCast_
FusedBack_
fused_
fused 
ConvBnFusion_W_
ConvBnFusion_BN_B_
ConvMulFusion_W_
ConvAddFusion_Add_B_
)";

/// Returns: the length of the longest of `suffixes` that `name` ends with; 0 for none, or if
/// nothing would remain. Complexity: O(length of the list).
[[nodiscard]] constexpr std::size_t suffix_length(std::string_view name,
                                                  std::string_view suffixes) noexcept {
    std::size_t longest = 0;
    while (!suffixes.empty()) {
        auto suffix = take_until(suffixes, '\n');
        auto end = name.size();
        const bool counts = suffix.ends_with('#');
        if (counts) {
            suffix.remove_suffix(1);
            while (end > 0 && is_digit(name[end - 1])) {
                --end;
            }
        }
        if (suffix.empty() || (counts && end == name.size()) || end <= suffix.size() ||
            !name.substr(0, end).ends_with(suffix)) {
            continue;
        }
        const auto length = suffix.size() + name.size() - end;
        longest = length > longest ? length : longest;
    }
    return longest;
}

/// Returns: the length of the one of `prefixes` that `name` starts with; 0 for none, or if nothing
/// would remain. Complexity: O(length of the list).
[[nodiscard]] constexpr std::size_t prefix_length(std::string_view name,
                                                  std::string_view prefixes) noexcept {
    while (!prefixes.empty()) {
        const auto prefix = take_until(prefixes, '\n');
        if (!prefix.empty() && name.size() > prefix.size() && name.starts_with(prefix)) {
            return prefix.size();
        }
    }
    return 0;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_TOOL_NAMES_HPP
