// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_TAKE_OVER_TAGS_HPP
#define STEMMA_RECORD_DETAIL_TAKE_OVER_TAGS_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/read_tags.hpp>
#include <stemma/tagging/tagger.hpp>

namespace stemma::inline STEMMA_ABI::detail {

/// Replaces computed tags by those in the file: a tag edited in the file counts as the editor's
/// word.
/// Returns: whether the table of tags, if any, was readable.
/// Complexity: that of `read_carried_modules`.
inline bool take_over_tags(const wire_model& model, const module_tree& modules, tagging& tagged) {
    const auto [carried, table_damaged] = read_carried_modules(model, modules, tagged.tags);
    for (id node = 0; node < carried.size(); ++node) {
        auto& entry = tagged.attributions[node];
        if (carried[node] == no_id || carried[node] == entry.module ||
            (tagged.tags.is_selected(carried[node]) &&
             tagged.tags.selected(entry.module) == carried[node] &&
             !read_carried_tags(model, node).module)) {
            continue;
        }
        entry = {carried[node], no_id, 1, provenance::recorded, false};
        tagged.tag_sets[node] = tagged.tags.selected(carried[node]);
    }
    return !table_damaged;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_TAKE_OVER_TAGS_HPP
