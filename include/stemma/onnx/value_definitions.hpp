// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_VALUE_DEFINITIONS_HPP
#define STEMMA_ONNX_VALUE_DEFINITIONS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Returns: the position of a node: `#7`, or `5/body#2` in a body.
[[nodiscard]] inline std::string position_text(const onnx_model& model, id node) {
    return model.graph_path(model.graph_of(node)) + "#" + std::to_string(model.position(node));
}

/// Returns: a node described so that a reader can find it: `node '/a/Add' (#7)`.
[[nodiscard]] inline std::string place_of(const onnx_model& model, id node) {
    const auto position = position_text(model, node);
    return model.name(node).empty()
               ? "node " + position
               : "node '" + std::string(model.name(node)) + "' (" + position + ")";
}

namespace detail {

/// Returns: the values with the same name and graph as a given one, ascending: several if the model
/// defines it more than once. Complexity: O(values).
[[nodiscard]] inline std::vector<id> definitions_of(const onnx_model& model, id value) {
    std::vector<id> result;
    for (id other = 0; other < model.value_count(); ++other) {
        if (model.graph_of_value(other) == model.graph_of_value(value) &&
            model.kind(other) != value_kind::undefined &&
            model.value_name(other) == model.value_name(value)) {
            result.push_back(other);
        }
    }
    return result;
}

/// Returns: what defines some values, for a message: `node 'a' (#0) and node 'b' (#2)`.
/// Complexity: O(length).
[[nodiscard]] inline std::string definers_text(const onnx_model& model,
                                               const std::vector<id>& all) {
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto producer = model.producer(all[i]);
        text.append(i == 0                ? ""
                    : i + 1 == all.size() ? " and "
                                          : ", ")
            .append(producer != no_id              ? place_of(model, producer)
                    : model.is_initializer(all[i]) ? "an initializer"
                                                   : "an input");
    }
    return text;
}

/// The same of all definitions of a value. Complexity: O(values).
[[nodiscard]] inline std::string definers_text(const onnx_model& model, id value) {
    return definers_text(model, definitions_of(model, value));
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_VALUE_DEFINITIONS_HPP
