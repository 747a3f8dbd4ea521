// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_RANDOM_NODES_HPP
#define STEMMA_CUT_DETAIL_RANDOM_NODES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/operator_dependence.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: by node, whether it is nondeterministic: a random operator, or a Dropout that is or may
/// be in training mode, as its third input is not a constant false (from opset 12 on).
/// Complexity: O(nodes + initializers).
[[nodiscard]] inline std::vector<bool> find_random_nodes(const wire_model& model) {
    auto random = find_random_operators(model);
    std::unordered_map<id, id> tensor_of;
    const auto is_false = [&](id value) {
        whole_numbers number;
        if (const auto node = model.producer(value); node != no_id) {
            if (is_constant_node(model, node)) {
                number = node_attributes(model, node).tensor("value").value_or(whole_numbers{});
            }
        } else if (model.is_initializer(value)) {
            if (tensor_of.empty()) {
                const auto tensors = model.tensors();
                for (id i = 0; i < tensors.size(); ++i) {
                    tensor_of.emplace(tensors[i].value, i);
                }
            }
            const auto& tensor = model.tensors()[tensor_of.at(value)];
            if (!tensor.sparse) {
                number = read_whole_numbers(model.reader(tensor.message));
            }
        }
        return number.known && number.values.size() == 1 && number.values.front() == 0;
    };
    for (id node = 0; node < model.node_count(); ++node) {
        if (model.op_type(node) == "Dropout" && model.domain(node).empty()) {
            const auto inputs = model.inputs(node);
            random[node] = inputs.size() > 2 && inputs[2] != no_id && !is_false(inputs[2]);
        }
    }
    return random;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_RANDOM_NODES_HPP
