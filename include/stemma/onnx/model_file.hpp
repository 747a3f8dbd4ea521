// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_MODEL_FILE_HPP
#define STEMMA_ONNX_MODEL_FILE_HPP

#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/map_model.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// A file, and the model in it. Immovable, as the model refers to the bytes.
class model_file {
public:
    /// Throws: `error` if the file cannot be read or is damaged.
    /// Complexity: linear in everything except tensor data.
    explicit model_file(const std::string& path) : model_file(map_model(path)) {}

    /// The same for a mapped file, or bytes in memory: `mapped_file::holding`.
    explicit model_file(mapped_file file)
        : file_(std::move(file)), model_(file_.bytes(), file_.path()) {}

    model_file(const model_file&) = delete;
    model_file& operator=(const model_file&) = delete;

    /// The bytes.
    [[nodiscard]] const mapped_file& file() const noexcept { return file_; }

    /// The parsed model.
    [[nodiscard]] const wire_model& model() const noexcept { return model_; }

private:
    mapped_file file_;
    wire_model model_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_MODEL_FILE_HPP
