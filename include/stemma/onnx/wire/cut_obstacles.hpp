// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_CUT_OBSTACLES_HPP
#define STEMMA_ONNX_WIRE_CUT_OBSTACLES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/cut_plan.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire/node_attributes.hpp>
#include <stemma/onnx/wire/value_types.hpp>
#include <stemma/onnx/wire/wire_model.hpp>

#include <optional>

namespace stemma {

/// Finds a value at the boundary of a plan whose type or rank is not known.
/// Complexity: a look-up for each value at the boundary.
[[nodiscard]] inline std::optional<id> find_untyped(const cut_plan& plan,
                                                    const value_types& types) {
    for (const auto* values : {&plan.inputs, &plan.outputs}) {
        for (auto value : *values) {
            if (!types.has_type(value)) {
                return value;
            }
        }
    }
    return std::nullopt;
}

/// Finds a node of a plan, or in a body of one, with an attribute whose value only a call of the
/// function around it would bind.
/// Complexity: O(fields of the nodes).
[[nodiscard]] inline std::optional<id> find_unbound(const cut_plan& plan, const wire_model& model,
                                                    const graph_contents& contents) {
    if (model.graph(contents.root(plan.graph)).kind != graph_kind::function) {
        return std::nullopt;
    }
    const auto find = [&](auto& self, id node) -> std::optional<id> {
        if (node_attributes(model, node).has_reference()) {
            return node;
        }
        for (auto inside : contents.inner_nodes(node)) {
            if (const auto found = self(self, inside)) {
                return found;
            }
        }
        return std::nullopt;
    };
    for (auto node : plan.nodes) {
        if (const auto found = find(find, node)) {
            return found;
        }
    }
    return std::nullopt;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_CUT_OBSTACLES_HPP
