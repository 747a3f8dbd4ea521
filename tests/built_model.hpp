// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_BUILT_MODEL_HPP
#define STEMMA_TESTS_BUILT_MODEL_HPP

#include "wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test {

/// Bytes that outlive what views them.
struct held_bytes {
    std::string text;
};

/// A model that a test makes, with its bytes.
class built_model : held_bytes, public stemma::wire_model {
public:
    explicit built_model(std::string bytes)
        : held_bytes{std::move(bytes)}, stemma::wire_model(text) {}
    explicit built_model(const message& model) : built_model(model.bytes()) {}
    built_model(const std::vector<message>& nodes, const names& inputs, const names& outputs = {},
                const names& initializers = {})
        : built_model(model(graph(nodes, inputs, outputs, initializers))) {}

    built_model(const built_model&) = delete;
    built_model& operator=(const built_model&) = delete;

    using stemma::wire_model::text;
};

} // namespace test

#endif // STEMMA_TESTS_BUILT_MODEL_HPP
