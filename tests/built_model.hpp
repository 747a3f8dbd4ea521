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
    std::string held;
};

/// A model that a test makes, with its bytes.
class built_model : held_bytes, public stemma::wire_model {
public:
    explicit built_model(std::string bytes)
        : held_bytes{std::move(bytes)}, stemma::wire_model(held) {}
    template <class Builder>
    explicit built_model(const Builder& made) : built_model(std::string(made.bytes())) {}
    built_model(const std::vector<test::message>& nodes, const names& inputs,
                const names& outputs = {}, const names& initializers = {})
        : built_model(test::model(test::graph(nodes, inputs, outputs, initializers))) {}

    built_model(const built_model&) = delete;
    built_model& operator=(const built_model&) = delete;
};

} // namespace test

#endif // STEMMA_TESTS_BUILT_MODEL_HPP
