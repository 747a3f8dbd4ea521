// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_FIND_IN_MODEL_HPP
#define STEMMA_TESTS_FIND_IN_MODEL_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <string_view>

namespace test {

/// Returns: the first node with a name, or `no_id`.
inline stemma::id node_called(const stemma::onnx_model& model, std::string_view name) {
    for (stemma::id node = 0; node < model.node_count(); ++node) {
        if (model.name(node) == name) {
            return node;
        }
    }
    return stemma::no_id;
}

/// Returns: the first value with a name defined in a graph, or `no_id`.
inline stemma::id value_called(const stemma::onnx_model& model, std::string_view name,
                               stemma::id graph = 0) {
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        if (model.value_name(value) == name && model.graph_of_value(value) == graph) {
            return value;
        }
    }
    return stemma::no_id;
}

/// Returns: the graph with this path, or `no_id`.
inline stemma::id graph_at(const stemma::onnx_model& model, std::string_view path) {
    for (stemma::id g = 0; g < model.graph_count(); ++g) {
        if (model.graph_path(g) == path) {
            return g;
        }
    }
    return stemma::no_id;
}

} // namespace test

#endif // STEMMA_TESTS_FIND_IN_MODEL_HPP
