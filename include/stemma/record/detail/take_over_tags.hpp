// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_TAKE_OVER_TAGS_HPP
#define STEMMA_RECORD_DETAIL_TAKE_OVER_TAGS_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/read_tags.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Tags in a file that are not those computed for it.
struct edited_tags {
    std::vector<std::pair<id, id>> modules; ///< node and module
    bool table_damaged = false;             ///< the table of tags cannot be read
};

/// Returns: the tags edited in a file since `tagged` was written into it.
/// Complexity: that of `read_carried_modules`.
[[nodiscard]] inline edited_tags
find_edited_tags(const wire_model& model, const module_tree& modules, const tagging& tagged) {
    const auto [carried, table_damaged] = read_carried_modules(model, modules, tagged.tags);
    edited_tags edited{{}, table_damaged};
    for (id node = 0; node < carried.size(); ++node) {
        const auto computed = tagged.attributions[node].module;
        if (carried[node] == no_id || carried[node] == computed ||
            (tagged.tags.is_selected(carried[node]) &&
             tagged.tags.selected(computed) == carried[node] &&
             !read_carried_tags(model, node).module)) {
            continue;
        }
        edited.modules.emplace_back(node, carried[node]);
    }
    return edited;
}

/// Replaces computed tags by edited ones, which count as the editor's word; reports a table that
/// cannot be read. Complexity: O(edited).
inline void take_over_tags(const edited_tags& edited, tagging& tagged,
                           std::vector<std::string>& problems) {
    for (const auto& [node, module] : edited.modules) {
        tagged.attributions[node] = {module, no_id, 1, provenance::recorded, false};
        tagged.tag_sets[node] = tagged.tags.selected(module);
    }
    if (edited.table_damaged) {
        problems.push_back(std::string(tag_table_key) + " cannot be read and is ignored");
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_TAKE_OVER_TAGS_HPP
