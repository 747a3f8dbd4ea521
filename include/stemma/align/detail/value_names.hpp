// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_VALUE_NAMES_HPP
#define STEMMA_ALIGN_DETAIL_VALUE_NAMES_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/text_list.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

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

/// The values of a graph by name; ambiguous names find none.
class value_names {
public:
    /// Requires: the graph outlives this. Complexity: O(values + length of names).
    explicit value_names(const comparable_graph& graph)
        : graph_(graph), index_(graph.value_count()), several_(graph.value_count()) {
        for (id value = 0; value < graph.value_count(); ++value) {
            const auto name = graph.value_name(value);
            if (name.empty()) {
                continue;
            }
            const auto existing = index_.insert(
                hash_bytes(name), value, [&](id other) { return graph.value_name(other) == name; });
            if (existing != value) {
                several_[existing] = several_[value] = true;
            }
        }
    }

    /// Returns: by value of another graph the one with its name, or `no_id`.
    /// Complexity: O(values + length of names); cheapest if both have them in the same order.
    [[nodiscard]] std::vector<id> find_all(const comparable_graph& other) const {
        std::vector<id> result(other.value_count(), no_id);
        id next = 0;
        for (id value = 0; value < other.value_count(); ++value) {
            const auto name = other.value_name(value);
            const bool is_next = next < graph_.value_count() && !name.empty() &&
                                 graph_.value_name(next) == name && !several_[next];
            result[value] = is_next ? next : find(name);
            next = result[value] == no_id ? next : result[value] + 1;
        }
        return result;
    }

    /// Returns: the value with a name, or `no_id`. Complexity: O(length).
    [[nodiscard]] id find(std::string_view name) const {
        if (name.empty()) {
            return no_id;
        }
        const auto existing = index_.find(
            hash_bytes(name), [&](id value) { return graph_.value_name(value) == name; });
        return existing == no_id || several_[existing] ? no_id : existing;
    }

    /// The same, ignoring tools' prefixes and suffixes.
    /// Complexity: O(length of the lists).
    [[nodiscard]] id find_within(std::string_view name) const {
        for (int cuts = 0; cuts < 4 && !name.empty(); ++cuts) {
            const auto behind = suffix_length(name, tool_suffixes);
            const auto before = behind > 0 ? 0 : prefix_length(name, tool_prefixes);
            if (behind + before == 0) {
                break;
            }
            name.remove_suffix(behind);
            name.remove_prefix(before);
            if (const auto result = find(name); result != no_id) {
                return result;
            }
        }
        return no_id;
    }

private:
    const comparable_graph& graph_;
    flat_index index_;
    std::vector<bool> several_; // by value: whether its name is ambiguous
};

/// The operators of a graph by name; ambiguous names find none.
class operator_names {
public:
    /// Requires: the graph outlives this. Complexity: O(operators + length of names).
    explicit operator_names(const comparable_graph& graph)
        : graph_(graph), index_(graph.operator_count()), several_(graph.operator_count()) {
        for (id op = 0; op < graph.operator_count(); ++op) {
            const auto name = graph.name(op);
            if (!name.empty()) {
                const auto existing = index_.insert(
                    hash_bytes(name), op, [&](id other) { return graph.name(other) == name; });
                several_[existing] = several_[existing] || existing != op;
            }
        }
    }

    /// Returns: the operator with a name, or `no_id`. Complexity: O(length).
    [[nodiscard]] id find(std::string_view name) const {
        const auto existing = name.empty() ? no_id : index_.find(hash_bytes(name), [&](id op) {
            return graph_.name(op) == name;
        });
        return existing == no_id || several_[existing] ? no_id : existing;
    }

private:
    const comparable_graph& graph_;
    flat_index index_;
    std::vector<bool> several_; // by the first operator with a name
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_VALUE_NAMES_HPP
