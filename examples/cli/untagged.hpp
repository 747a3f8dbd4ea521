// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_UNTAGGED_HPP
#define STEMMA_EXAMPLES_CLI_UNTAGGED_HPP

#include <stemma/io/file.hpp>
#include <stemma/onnx/wire/byte_rope.hpp>
#include <stemma/onnx/wire/wire_model.hpp>

#include <optional>
#include <string>

namespace cli {

/// A model as it is without tags: the file itself, or, where that is tagged, a copy without them
/// that goes away with this object.
class untagged_model {
public:
    /// The copy, if one is needed, stands beside `output`. Requires: both outlive it.
    untagged_model(const stemma::mapped_file& file, const stemma::wire_model& model,
                   const std::string& output);
    ~untagged_model();

    untagged_model(const untagged_model&) = delete;
    untagged_model& operator=(const untagged_model&) = delete;

    [[nodiscard]] const stemma::mapped_file& file() const noexcept {
        return copy_ ? *copy_ : file_;
    }
    [[nodiscard]] const stemma::wire_model& model() const noexcept {
        return copied_ ? *copied_ : model_;
    }
    [[nodiscard]] bool was_tagged() const noexcept { return copy_.has_value(); }
    /// Returns: how the tagged file is made of this one; "" when it is this one.
    [[nodiscard]] std::string tags() const;

private:
    const stemma::mapped_file& file_;
    const stemma::wire_model& model_;
    std::string path_;
    std::optional<stemma::mapped_file> copy_;
    std::optional<stemma::wire_model> copied_;
};

/// Writes a model that was made of a file, and puts the weights that lie beside that where `data`
/// says (keep, link or copy). Throws: `stemma::error` of `too_large` when it reaches 2 GiB.
void write_rope(const stemma::byte_rope& rope, const stemma::mapped_file& file,
                const stemma::wire_model& model, const std::string& output, const std::string& data,
                bool sync);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_UNTAGGED_HPP
