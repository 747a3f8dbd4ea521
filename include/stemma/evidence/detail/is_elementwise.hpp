// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_IS_ELEMENTWISE_HPP
#define STEMMA_EVIDENCE_DETAIL_IS_ELEMENTWISE_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether an operator type treats every element alike, as activations do.
[[nodiscard]] inline bool is_elementwise(std::string_view type) {
    constexpr std::array<std::string_view, 27> types{"Abs",       "Add",         "Celu",
                                                     "Clip",      "Div",         "Elu",
                                                     "Erf",       "Exp",         "FastGelu",
                                                     "Gelu",      "HardSigmoid", "HardSwish",
                                                     "LeakyRelu", "Max",         "Min",
                                                     "Mish",      "Mul",         "Pow",
                                                     "QuickGelu", "Relu",        "Selu",
                                                     "Sigmoid",   "Softplus",    "Softsign",
                                                     "Sub",       "Tanh",        "ThresholdedRelu"};
    return std::find(types.begin(), types.end(), type) != types.end();
}

/// Whether an operator type scales or shifts a value, which by itself is no activation.
[[nodiscard]] inline bool is_arithmetic(std::string_view type) {
    return type == "Add" || type == "Sub" || type == "Mul" || type == "Div";
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_IS_ELEMENTWISE_HPP
