// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_CONSTANT_NODE_HPP
#define STEMMA_ONNX_DETAIL_CONSTANT_NODE_HPP

#include <stemma/config.hpp>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether an operator of an ONNX model, by number, is the standard Constant: for loops over all
/// nodes, which compare numbers then. Complexity: O(1).
template <class Model, class Operator>
[[nodiscard]] bool is_constant_operator(const Model& model, Operator op) {
    return model.operator_type(op) == "Constant" && model.operator_domain(op).empty();
}

/// Whether a node of an ONNX model is a standard Constant. Complexity: O(1).
template <class Model, class Node>
[[nodiscard]] bool is_constant_node(const Model& model, Node node) {
    return model.op_type(node) == "Constant" && model.domain(node).empty();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_CONSTANT_NODE_HPP
