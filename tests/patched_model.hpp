// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_PATCHED_MODEL_HPP
#define STEMMA_TESTS_PATCHED_MODEL_HPP

#include "checkpoint_files.hpp"
#include "model_files.hpp"
#include "scratch_folder.hpp"
#include "wire_builder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/weights/detail/make_values.hpp>
#include <stemma/weights/patch_weights.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// Returns: a matrix with that many rows of four numbers, the first of which is `from`.
[[nodiscard]] inline float_tensor matrix(std::string name, float from, std::int64_t rows = 4) {
    float_tensor tensor{std::move(name), {rows, 4}, {}};
    for (std::int64_t i = 0; i < 4 * rows; ++i) {
        tensor.values.push_back(from + 0.37F * static_cast<float>(i * i));
    }
    return tensor;
}

[[nodiscard]] inline std::string bytes_of(const float_tensor& tensor) {
    return stemma::detail::bytes_of(tensor.values);
}

/// A model with weights before and after, and with modules.
struct patched_model {
    patched_model(const message& graph, const std::vector<float_tensor>& before,
                  const std::vector<float_tensor>& after, const std::string& modules)
        : opened(folder.make("model.onnx", model(graph).bytes()),
                 {.captures = stemma::captures({folder.make("modules.json", modules)})})
        , known(stemma::read_checkpoint(folder.make("old.safetensors", safetensors(before))))
        , weights(stemma::read_checkpoint(folder.make("new.safetensors", safetensors(after)))) {}

    /// Returns: the bytes of the model with new values in some modules.
    [[nodiscard]] std::string patch(const std::string& some, bool knows = true) const {
        const auto output = folder.file("out.onnx");
        static_cast<void>(stemma::patch_weights(opened, output,
                                                {.weights = &weights,
                                                 .known = knows ? &known : nullptr,
                                                 .modules = some,
                                                 .writing = {.sync = false}}));
        return read_bytes(output);
    }

    scratch_folder folder;
    stemma::attributed_model opened;
    stemma::checkpoint known;
    stemma::checkpoint weights;
};

} // namespace test

#endif // STEMMA_TESTS_PATCHED_MODEL_HPP
