// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_DETAIL_FOUND_PARAMETERS_HPP
#define STEMMA_CAPTURE_DETAIL_FOUND_PARAMETERS_HPP

#include <stemma/capture/detail/captured_claims.hpp>
#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/checkpoint/checkpoint_modules.hpp>
#include <stemma/checkpoint/detail/content_matcher.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/evidence/parameter_names.hpp>
#include <stemma/evidence/parameter_regions.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CAPTURE_DETAIL_FOUND_PARAMETERS_HPP
