// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_INLINED_MODEL_HPP
#define STEMMA_FOLD_DETAIL_INLINED_MODEL_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/fold/detail/function_inliner.hpp>
#include <stemma/fold/detail/inlined_names.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/detail/structure_digest.hpp>
#include <stemma/onnx/detail/temporary_model.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/detail/untagged_model.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/recorded_claims.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: claims for nodes whose module nothing else in the model tells any more: a capture, the
/// record, or functions did. Complexity: O(nodes).
[[nodiscard]] inline claim_table kept_claims(const std::vector<attribution>& attributions) {
    claim_table kept{provenance::recorded, std::vector<claim>(attributions.size())};
    for (std::size_t node = 0; node < attributions.size(); ++node) {
        const auto& [module, call, confidence, source, conflict] = attributions[node];
        switch (source) {
        case provenance::exported:
        case provenance::recorded:
        case provenance::contents:
        case provenance::torchscript:
        case provenance::trace:
        case provenance::fx:
            kept.of[node] = {module, call, confidence, provenance::recorded};
            break;
        default:
            break;
        }
    }
    return kept;
}

/// Calls `write(plan)` with the rewriting that tags a model like the tagged one that it was made
/// from by inlining functions: with the same tree and carriers.
/// Requires: the attributions are those of its nodes, in the tree of the opened model.
/// Complexity: that of `make_tag_editor`.
template <class Write>
void tag_inlined(const attributed_model& opened, const wire_model& inlined,
                 std::vector<attribution> attributions, Write write) {
    tagging inherited;
    inherited.tags = opened.tags().tags;
    inherited.attributions = std::move(attributions);
    inherited.tag_sets.reserve(inherited.attributions.size());
    for (const auto& one : inherited.attributions) {
        inherited.tag_sets.push_back(inherited.tags.selected(one.module));
    }
    const auto kept = kept_claims(inherited.attributions);
    const auto recorded = find_readable_record(opened.model(), model_key);
    auto editor = make_tag_editor(
        inlined, opened.modules(), inherited,
        [&](const carrier_set& carriers) {
            auto record = opened.record(carriers);
            record.describe(inlined.node_count(), find_digests(inlined));
            record.claims.clear(); // they belong to nodes that no longer exist
            if (kept.count() > 0) {
                record.claims.push_back(to_runs(kept));
            }
            return record;
        },
        recorded ? recorded->carriers : usual_carriers);
    rewrite plan(inlined, editor);
    write(plan);
}

/// Whether a model has functions other than those that folding made.
[[nodiscard]] inline bool has_foreign_functions(const wire_model& model) {
    return !model.functions().empty() && !find_model_metadata(model, fold_key);
}

/// A model with its functions inlined, tagged if it was. It is deleted with this object.
class inlined_model {
public:
    /// It is a file beside `output`, or in memory if that is "".
    /// Requires: the opened model keeps its evidence. Throws: as `function_inliner::build`.
    /// Complexity: O(bytes).
    inlined_model(const attributed_model& opened, const std::string& output) {
        const untagged_model source(opened.file(), opened.model(), output);
        function_inliner inliner(source.model(),
                                 inlined_names(source.model(), opened.modules(),
                                               opened.tags().attributions, opened.calls()));
        const auto rope = inliner.build();
        inlined_.emplace(source.file(), opened.model().file(), output, ".inlined",
                         [&](auto& to) { rope.write(to); });
        attributions_ = inliner.attributions();
        if (attributions_.size() != model().node_count()) { // a call passes a body
            STEMMA_THROW(error(error_code::unsupported, opened.model().file(), "functions",
                               "cannot be inlined to cut inside them"));
        }
        if (source.was_tagged()) {
            tag_inlined(opened, inlined_->model(), attributions_, [&](auto& plan) {
                tagged_.emplace(inlined_->file(), opened.model().file(), output, ".tagged",
                                [&](auto& to) { plan.write(to); });
            });
        }
    }

    inlined_model(const inlined_model&) = delete;
    inlined_model& operator=(const inlined_model&) = delete;

    /// Returns: its file.
    [[nodiscard]] const mapped_file& file() const noexcept {
        return (tagged_ ? tagged_ : inlined_)->file();
    }

    /// Returns: the model without functions.
    [[nodiscard]] const wire_model& model() const noexcept {
        return (tagged_ ? tagged_ : inlined_)->model();
    }

    /// Returns: the attributions of its nodes, in the tree of the opened model.
    [[nodiscard]] const std::vector<attribution>& attributions() const noexcept {
        return attributions_;
    }

private:
    std::optional<detail::temporary_model> inlined_;
    std::optional<detail::temporary_model> tagged_;
    std::vector<attribution> attributions_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_INLINED_MODEL_HPP
