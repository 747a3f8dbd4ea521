// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_TAG_INLINED_HPP
#define STEMMA_FOLD_DETAIL_TAG_INLINED_HPP

#include <stemma/evidence/given_claims.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/detail/structure_digest.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/recorded_claims.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <cstddef>
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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_TAG_INLINED_HPP
