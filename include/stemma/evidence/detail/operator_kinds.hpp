// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_OPERATOR_KINDS_HPP
#define STEMMA_EVIDENCE_DETAIL_OPERATOR_KINDS_HPP

#include <stemma/core/detail/range.hpp>

#include <algorithm>
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

/// Whether all operators of a step are elementwise; `type_of(v)` is their type.
template <class Step, class TypeOf>
[[nodiscard]] bool are_elementwise(const Step& step, TypeOf type_of) {
    return range::all_of(step, [&](auto v) { return is_elementwise(type_of(v)); });
}

/// Whether a step, which is not empty, may be an activation: it treats every element alike, and
/// does more than scale or shift them.
template <class Step, class TypeOf>
[[nodiscard]] bool may_activate(const Step& step, TypeOf type_of) {
    return are_elementwise(step, type_of) &&
           (step.size() > 1 || !is_arithmetic(type_of(step.front())));
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_OPERATOR_KINDS_HPP
