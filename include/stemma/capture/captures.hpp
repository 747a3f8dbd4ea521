// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_CAPTURES_HPP
#define STEMMA_CAPTURE_CAPTURES_HPP

#include <stemma/capture/capture_source.hpp>
#include <stemma/capture/detail/capture_reader.hpp>
#include <stemma/capture/detail/captured_claims.hpp>
#include <stemma/capture/detail/found_parameters.hpp>
#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/checkpoint/checkpoint_modules.hpp>
#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/config.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/detail/capture_match.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/stated_module.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Captures in files, read and aligned, possibly with a checkpoint, or a checkpoint alone.
class file_captures final : public opened_capture {
public:
    file_captures(capture_reader reader, std::optional<checkpoint> weights)
        : reader_(std::move(reader)), weights_(std::move(weights)) {}

    [[nodiscard]] module_tree modules() override {
        return reader_.has_modules() || !weights_ ? reader_.tree() : modules_of(*weights_);
    }

    [[nodiscard]] std::optional<std::string> is_foreign(const onnx_operators<wire_model>& ops,
                                                        const module_tree& modules) override {
        const auto match = match_capture(ops, modules);
        if (match.is_foreign()) {
            return match.note();
        }
        if (!weights_) {
            return std::nullopt;
        }
        parameters_.emplace(ops, modules, *weights_);
        if (!reader_.has_modules() && parameters_->count() == 0 && match.known_paths == 0 &&
            match.known_scopes == 0) {
            return "checkpoint: it contains none of the file's " +
                   std::to_string(parameters_->unknown()) +
                   " unnamed weights; it seems to belong to another model "
                   "and is ignored";
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<module_tree> complete(const module_tree& modules) override {
        const bool lists_all = reader_.has_modules() || !weights_ || !weights_->modules().empty();
        const auto missing =
            lists_all ? std::vector<std::string>() : parameters_->missing_members(modules);
        return missing.empty() ? std::nullopt : std::optional(modules_of(*weights_, missing));
    }

    [[nodiscard]] bool has_operations() const override {
        return reader_.has_operations() || (parameters_ && parameters_->count() > 0);
    }

    [[nodiscard]] std::function<source_lines()>
    module_lines(const wire_model& model, const onnx_operators<wire_model>& ops,
                 const module_tree& modules, const path_mapping& mapping) const override {
        captured_claims finder(model, ops, modules, mapping);
        finder.tell_modules(reader_.module_sources());
        return finder.finish().sources;
    }

    [[nodiscard]] captured_evidence
    find_claims(const wire_model& model, const onnx_operators<wire_model>& ops,
                const module_tree& modules, const path_mapping& mapping,
                const std::function<bool(provenance)>& uses,
                const std::function<std::vector<stated_module>()>& find_stated) override {
        const bool finds = parameters_ && parameters_->count() > 0 && uses(provenance::contents);
        const auto& named = finds ? parameters_->operators() : ops;
        const auto found_mapping =
            finds ? find_parameter_owners(named, modules).mapping : path_mapping();
        const auto stated = find_stated();
        captured_claims finder(model, named, modules, finds ? found_mapping : mapping);
        finder.tell_modules(reader_.module_sources());
        if (uses(provenance::exported)) {
            finder.look_up(reader_.exported());
        }
        if (!std::all_of(stated.begin(), stated.end(),
                         [](const stated_module& node) { return node.settled; })) {
            finder.align_all(reader_, stated, uses);
        }
        auto result = finder.finish();
        if (finds) {
            result.claims.push_back(parameters_->claims(modules));
        }
        return result;
    }

private:
    capture_reader reader_;
    std::optional<checkpoint> weights_;
    std::optional<found_parameters> parameters_; // if there are weights, once compared
};

/// Adds a capture, or the modules of a sidecar or of a tagged model, called `name` in messages.
/// Throws: as `capture_reader` and `find_recorded_modules`. Complexity: O(bytes).
inline void read_capture(capture_reader& reader, std::string_view bytes, const std::string& name) {
    if (const auto modules = find_recorded_modules(bytes, name)) {
        reader.read(*modules, name);
    } else {
        reader.read(bytes, name);
    }
}

/// Throws: `error` if there are no modules in what was read, `name` first.
inline void require_modules(const capture_reader& reader, std::string_view name) {
    if (!reader.has_modules()) {
        STEMMA_THROW(error(error_code::malformed, name, "", "contains no modules"));
    }
}

/// Reads captures of one model from files. Throws: as `mapped_file`, `read_capture` and
/// `require_modules`. Complexity: O(bytes).
[[nodiscard]] inline capture_reader read_captures(std::span<const std::string> paths) {
    capture_reader reader;
    for (const auto& path : paths) {
        read_capture(reader, mapped_file(path).bytes(), path);
    }
    if (!paths.empty()) {
        require_modules(reader, paths.front());
    }
    return reader;
}

/// Returns: the captures in files, and at most one checkpoint.
[[nodiscard]] inline std::unique_ptr<opened_capture>
open_captures(const std::vector<std::string>& paths) {
    std::vector<std::string> captured;
    std::optional<checkpoint> weights;
    for (const auto& path : paths) {
        std::error_code failed;
        if (!std::filesystem::is_regular_file(path, failed)) {
            captured.push_back(path); // a pipe can be read only once
            continue;
        }
        mapped_file file(path);
        if (!is_checkpoint(file.bytes(), path)) {
            captured.push_back(path);
        } else if (weights) {
            STEMMA_THROW(error(error_code::contradiction, path, "",
                               "is a second checkpoint; for several files, give their index"));
        } else {
            weights = read_checkpoint(std::move(file));
        }
    }
    return std::make_unique<file_captures>(read_captures(captured), std::move(weights));
}

} // namespace detail

/// Returns: captures of one model in files, including modules in a sidecar or in a tagged model,
/// possibly with a checkpoint, or a checkpoint alone; pass it to `attribution_options`. Only
/// programs that call this compile the code to read and align them. Throws: when a model is
/// opened with it, as `read_captures` and `read_checkpoint`.
[[nodiscard]] inline capture_source captures(std::vector<std::string> paths) {
    if (paths.empty()) {
        return {};
    }
    auto name = detail::join_list(paths);
    return capture_source(
        [paths = std::move(paths)]() -> std::unique_ptr<detail::opened_capture> {
            return detail::open_captures(paths);
        },
        std::move(name));
}

/// Returns: a capture in memory, in place of a file of `captures`; `name` stands for it in
/// messages. Throws: when a model is opened with it, as `read_capture` and `require_modules`.
[[nodiscard]] inline capture_source capture_bytes(std::string bytes, std::string name = "capture") {
    return capture_source(
        [bytes = std::move(bytes), name]() -> std::unique_ptr<detail::opened_capture> {
            detail::capture_reader reader;
            detail::read_capture(reader, bytes, name);
            detail::require_modules(reader, name);
            return std::make_unique<detail::file_captures>(std::move(reader), std::nullopt);
        },
        name);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CAPTURE_CAPTURES_HPP
