// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_OPENED_GRAPH_HPP
#define STEMMA_TESTS_OPENED_GRAPH_HPP

#include "checkpoint_files.hpp"
#include "wire_builder.hpp"

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/attribution_options.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test {

/// Returns: the model of these bytes, opened in memory.
[[nodiscard]] inline stemma::attributed_model in_memory(std::string bytes,
                                                        std::string name = "memory",
                                                        stemma::attribution_options options = {}) {
    return {stemma::mapped_file::holding(std::move(bytes), std::move(name)), std::move(options)};
}

/// Returns: a model with this graph, opened in memory.
[[nodiscard]] inline stemma::attributed_model open_graph(const message& graph) {
    return in_memory(model(graph).bytes(), "model.onnx");
}

/// Returns: a checkpoint in memory with these tensors.
[[nodiscard]] inline stemma::checkpoint saved(const std::vector<float_tensor>& tensors) {
    return stemma::read_checkpoint(
        stemma::mapped_file::holding(safetensors(tensors), "model.safetensors"));
}

} // namespace test

#endif // STEMMA_TESTS_OPENED_GRAPH_HPP
