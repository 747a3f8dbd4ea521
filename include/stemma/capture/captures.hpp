// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_CAPTURES_HPP
#define STEMMA_CAPTURE_CAPTURES_HPP

#include <stemma/capture/capture_source.hpp>
#include <stemma/capture/detail/capture_reader.hpp>
#include <stemma/capture/detail/captured_claims.hpp>
#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/checkpoint/checkpoint_modules.hpp>
#include <stemma/checkpoint/detail/content_matcher.hpp>
#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/detail/capture_match.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/evidence/parameter_names.hpp>
#include <stemma/evidence/parameter_regions.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/stated_module.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
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

/// The operators of a model with parameters renamed after a checkpoint, if their own names lead
/// nowhere and their contents are found there.
class found_parameters {
public:
    /// Complexity: that of `content_matcher`.
    found_parameters(const onnx_operators<wire_model>& ops, const module_tree& modules,
                     const checkpoint& saved)
        : ops_(ops), saved_(&saved), wrapped_(wrapper_length(saved)) {
        const auto& model = ops.model();
        const auto tensors = tensors_of_parameters(model, ops);
        const auto owners = find_parameter_owners(ops, modules);
        std::vector<bool> wanted(model.tensors().size(), false);
        for (id p = 0; p < ops.parameter_count(); ++p) {
            if (tensors[p] != no_id && owners.of(p).empty()) {
                wanted[tensors[p]] = true;
                ++unknown_;
            }
        }
        const auto matched = content_matcher(model, saved).match(wanted);
        std::vector<std::string> names(ops.parameter_count());
        is_saved_.resize(names.size(), false);
        for (id p = 0; p < names.size(); ++p) {
            if (tensors[p] != no_id && wanted[tensors[p]] && !matched[tensors[p]].empty()) {
                names[p] = name_of(matched[tensors[p]]);
                is_saved_[p] = true;
                ++count_;
            }
        }
        name_tied(tensors, matched, names);
        ops_.rename_parameters(std::move(names));
    }

    /// The operators, with those names.
    [[nodiscard]] const onnx_operators<wire_model>& operators() const noexcept { return ops_; }

    /// The number of parameters found.
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    /// The number of parameters searched for.
    [[nodiscard]] std::size_t unknown() const noexcept { return unknown_; }

    /// Returns: paths of sequence members that operators imply and the modules lack.
    /// Complexity: that of `parameter_regions::find_missing_members`.
    [[nodiscard]] std::vector<std::string> missing_members(const module_tree& modules) const {
        evidence_context<onnx_operators<wire_model>, module_tree> context(ops_, modules);
        std::vector<std::string> paths;
        for (const auto& [sequence, number] : parameter_regions::find_missing_members(context)) {
            paths.push_back(member_path(modules.path(sequence), std::to_string(number)));
        }
        return paths;
    }

    /// Returns: claims for the operators that read them, and for those around, as made by the
    /// sources `parameter_names` and `parameter_regions`. Complexity: that of these.
    [[nodiscard]] claim_table claims(const module_tree& modules) const {
        evidence_context<onnx_operators<wire_model>, module_tree> context(ops_, modules);
        const auto direct = parameter_names{}.prepare(context);
        const auto around = parameter_regions{}.prepare(context);
        claim_table table{provenance::contents, std::vector<claim>(ops_.model().node_count())};
        for (id node = 0; node < table.of.size(); ++node) {
            auto& kept = table.of[node];
            const auto keep = [&](const claim& candidate) {
                // Among owners of a shared tensor, the one with the most confidence counts; among
                // equals, their common ancestor.
                if (kept.module == no_id || candidate.confidence > kept.confidence) {
                    kept = candidate;
                } else if (candidate.confidence == kept.confidence &&
                           candidate.module != kept.module) {
                    kept.module = modules.index().lca(candidate.module, kept.module);
                    kept.exact = false;
                }
            };
            bool reads = false;
            ops_.for_each_parameter(node, [&](id p) { reads = reads || is_saved_[p]; });
            if (reads) {
                direct.for_each_claim(node, keep);
            }
            if (kept.module == no_id) {
                around.for_each_claim(node, keep);
            }
            kept.source = provenance::contents;
        }
        return table;
    }

private:
    /// Returns: the entry's name; for several, one in the module that contains all of theirs.
    [[nodiscard]] std::string name_of(const std::vector<std::size_t>& entries) const {
        const auto name = [&](std::size_t entry) {
            return without_wrappers(saved_->entries()[entry].name, wrapped_);
        };
        const auto first = name(entries.front());
        auto common = first.substr(0, first.rfind('.') + 1); // with the dot
        for (const auto entry : entries) {
            const auto other = name(entry);
            while (!other.starts_with(common)) {
                const auto dot = common.substr(0, common.size() - 1).rfind('.');
                common = common.substr(0, dot == common.npos ? 0 : dot + 1);
            }
        }
        return std::string(common) + std::string(first.substr(first.rfind('.') + 1));
    }

    /// If operators of two types read entries that are one tensor, as an embedding and an output
    /// layer do, gives parameters of the later type the last name of the tensor.
    void name_tied(const std::vector<id>& tensors,
                   const std::vector<std::vector<std::size_t>>& matched,
                   std::vector<std::string>& names) const {
        const auto entries = saved_->entries();
        std::map<std::size_t, std::size_t> last; // by the first of the entries that are one tensor
        for (std::size_t e = 0; e < entries.size(); ++e) {
            if (entries[e].alias_of != e) {
                last[entries[e].alias_of] = e;
            }
        }
        if (last.empty()) {
            return;
        }
        const auto tied = [&](id p) {
            if (is_saved_[p]) {
                const auto& made_of = matched[tensors[p]];
                return made_of.size() == 1 ? last.find(entries[made_of.front()].alias_of)
                                           : last.end();
            }
            const auto* const named = saved_->find(ops_.parameter_name(p));
            return named == nullptr ? last.end() : last.find(named->alias_of);
        };
        std::map<std::size_t, std::string_view> first_type; // by the same
        for (id node = 0; node < ops_.model().node_count(); ++node) {
            ops_.for_each_parameter(node, [&](id p) {
                const auto type = ops_.model().op_type(node);
                if (const auto one = tied(p);
                    one != last.end() &&
                    first_type.emplace(one->first, type).first->second != type && is_saved_[p]) {
                    names[p] = name_of({one->second});
                }
            });
        }
    }

    onnx_operators<wire_model> ops_;
    const checkpoint* saved_;
    std::size_t wrapped_;
    std::vector<bool> is_saved_; // by parameter
    std::size_t count_ = 0;
    std::size_t unknown_ = 0;
};

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
