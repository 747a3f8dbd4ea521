// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_INLINED_HPP
#define STEMMA_EXAMPLES_CLI_INLINED_HPP

#include "untagged.hpp"

#include <stemma/io/file.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/wire/attributed_model.hpp>
#include <stemma/onnx/wire/wire_model.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cli {

/// A model without tags, with its functions put in where they are called: a file beside an output
/// that goes away with this object.
class inlined_model {
public:
    /// Requires: the opened model keeps its evidence. Throws: as `stemma::function_inliner::build`.
    inlined_model(stemma::attributed_model& opened, const std::string& output);
    ~inlined_model();

    inlined_model(const inlined_model&) = delete;
    inlined_model& operator=(const inlined_model&) = delete;

    [[nodiscard]] const stemma::mapped_file& file() const noexcept { return *file_; }
    [[nodiscard]] const stemma::wire_model& model() const noexcept { return *model_; }
    /// Returns: where its nodes belong, in the tree of the model that was opened.
    [[nodiscard]] const std::vector<stemma::attribution>& attributions() const noexcept {
        return attributions_;
    }

private:
    std::string path_;
    std::optional<stemma::mapped_file> file_;
    std::optional<stemma::wire_model> model_;
    std::vector<stemma::attribution> attributions_;
};

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_INLINED_HPP
