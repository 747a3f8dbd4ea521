// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_OPERATOR_KINDS_HPP
#define STEMMA_COMPARE_DETAIL_OPERATOR_KINDS_HPP

#include <stemma/align/fused_operators.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether operators of a type quantize, dequantize, or compute with quantized numbers.
[[nodiscard]] constexpr bool is_quantizing(std::string_view type) noexcept {
    constexpr std::array<std::string_view, 11> parts{"Quant", "QLinear",  "Integer", "QGemm",
                                                     "QMoE",  "QOrdered", "QEmbed",  "QAttention",
                                                     "NBits", "Bnb4",     "FpQ4"};
    return std::any_of(
               parts.begin(), parts.end(),
               [&](std::string_view part) { return type.find(part) != std::string_view::npos; }) ||
           type == "DequantizeLinear";
}

/// Whether an operator type is a runtime's fused one.
/// Complexity: O(length of the list).
[[nodiscard]] constexpr bool is_fused_type(std::string_view type) noexcept {
    auto rest = fused_operators;
    while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const auto line = rest.substr(0, end);
        auto types = line.substr(0, std::min(line.find('='), line.size()));
        while (!types.empty()) {
            const auto blank = std::min(types.find(' '), types.size());
            if (!type.empty() && types.substr(0, blank) == type) {
                return true;
            }
            types.remove_prefix(std::min(blank + 1, types.size()));
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_OPERATOR_KINDS_HPP
