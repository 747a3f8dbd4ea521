// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_PASS_ON_HPP
#define STEMMA_ONNX_DETAIL_PASS_ON_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether operators of a type turn integers into numbers, with a scale.
[[nodiscard]] constexpr bool dequantizes(std::string_view domain, std::string_view type) noexcept {
    return type == "DequantizeLinear" && (domain.empty() || domain == "com.microsoft");
}

/// Whether the result of operators of a type stands for their first input: exporters write an
/// Identity where modules share a parameter, and quantizers a DequantizeLinear behind each.
[[nodiscard]] constexpr bool passes_on(std::string_view domain, std::string_view type) noexcept {
    return (type == "Identity" && domain.empty()) || dequantizes(domain, type);
}

/// Gives the results of nodes that pass their first input on the origin of that, if it has one.
/// Returns: by node, the input that it only passes on, or `no_id`.
/// Requires: `origins` has an entry per value; `no_id` means none. Complexity: O(nodes).
[[nodiscard]] inline std::vector<id> pass_on(const onnx_model& model, std::vector<id>& origins) {
    std::vector<bool> of_type;
    for (id op = 0; op < model.operator_count(); ++op) {
        of_type.push_back(passes_on(model.operator_domain(op), model.operator_type(op)));
    }
    std::vector<id> passed(model.node_count(), no_id);
    for (id node = 0; node < model.node_count(); ++node) {
        const auto inputs = model.inputs(node);
        if (of_type[model.operator_id(node)] && !inputs.empty() && inputs[0] != no_id &&
            origins[inputs[0]] != no_id && model.output_count(node) == 1) {
            origins[model.first_output(node)] = origins[inputs[0]];
            passed[node] = inputs[0];
        }
    }
    return passed;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_PASS_ON_HPP
