// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_PASS_ON_HPP
#define STEMMA_ONNX_DETAIL_PASS_ON_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Gives the results of Identity nodes the origin of what they read, if it has one: exporters write
/// such nodes where modules share a parameter.
/// Returns: by node, whether it only passes such a value on.
/// Requires: `origins` has an entry per value; `no_id` means none. Complexity: O(nodes).
[[nodiscard]] inline std::vector<bool> pass_on(const onnx_model& model, std::vector<id>& origins) {
    std::vector<bool> passes(model.node_count(), false);
    for (id node = 0; node < model.node_count(); ++node) {
        const auto inputs = model.inputs(node);
        if (inputs.size() == 1 && inputs[0] != no_id && origins[inputs[0]] != no_id &&
            model.output_count(node) == 1 && model.op_type(node) == "Identity" &&
            model.domain(node).empty()) {
            origins[model.first_output(node)] = origins[inputs[0]];
            passes[node] = true;
        }
    }
    return passes;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_PASS_ON_HPP
