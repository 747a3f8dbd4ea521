// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_PARTS_HPP
#define STEMMA_EXAMPLES_CLI_PARTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/cut_plan.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire/attributed_model.hpp>
#include <stemma/onnx/wire/infer_shapes.hpp>
#include <stemma/onnx/wire/value_types.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cli {

/// Returns: the folder of a path, absolute.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// Makes a folder where there is none. Throws: `stemma::error` of `cannot_write`.
void make_folder(const std::string& folder);

/// Throws: `stemma::error` of `cannot_write` when the file exists and `force` is not given.
void check_replaceable(const std::string& path, bool force);

/// Returns: the name of a node, or `#7`.
std::string node_name(const stemma::onnx_model& model, stemma::id node);

/// Returns: a file name for a tag or path: letters, digits, `.`, `-` and `_`, at most 180 bytes.
std::string as_file_name(std::string_view text);

/// Names files after modules, different ones also where case does not count.
class file_namer {
public:
    std::string name(const stemma::attributed_model& opened, stemma::id module, std::size_t part,
                     std::size_t parts);

private:
    std::set<std::string> used_;
};

/// The types of values at the boundary of parts: what the file does not declare is inferred, once
/// and only when needed.
class boundary_types {
public:
    explicit boundary_types(const stemma::wire_model& model) : model_(model), types_(model) {}

    [[nodiscard]] stemma::value_types& types() noexcept { return types_; }

    /// Gets ready to infer, where the model declares few types itself: those at the boundary of a
    /// few parts, or of many.
    void prepare(bool many);

    /// Refuses a plan that cannot be written as a model: with a value of unknown type, or an
    /// attribute that only a call binds.
    /// Returns: the reason, if it is one of these.
    std::string refuse_unknown(stemma::cut_plan& plan, const stemma::graph_contents& contents);

private:
    std::optional<stemma::id> find_untyped(const stemma::cut_plan& plan);

    const stemma::wire_model& model_;
    stemma::value_types types_;
    std::optional<stemma::shape_inference> inference_; // once a type is missing
    std::string problem_;                              // of the inference of the ONNX library
    bool asked_library_ = false;
};

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_PARTS_HPP
