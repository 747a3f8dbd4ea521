// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_VALUE_TAGS_HPP
#define STEMMA_RECORD_DETAIL_VALUE_TAGS_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/tagging/detail/propagate_tags.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The tags of values.
struct value_tags {
    std::vector<id_set> sets; // by value, none of them empty; or no values
    id_set_pool pool;         // extends that of the tagging, whose sets it has as well
};

/// Finds the tags of every value: those of its readers; if unread, those of its producer; for an
/// unread initializer, that of the module its name denotes; else the root's.
///
/// Complexity: O((values + inputs) * cap + size of the tagging's pool).
[[nodiscard]] inline value_tags find_value_tags(const onnx_model& model, const module_tree& modules,
                                                const tagging& tagged) {
    std::vector<id> selected(modules.size());
    for (id m = 0; m < selected.size(); ++m) {
        selected[m] = tagged.tags.selected(m);
    }
    std::vector<id_set> tags(model.value_count(), no_id);
    auto pool = tagged.pool;
    std::vector<std::pair<id, id_set>> others; // if readers differ
    for (id node = 0; node < model.node_count(); ++node) {
        const auto set = tagged.tag_sets[node];
        for (auto value : model.inputs(node)) {
            if (value == no_id || tags[value] == set) {
                continue;
            }
            if (tags[value] == no_id) {
                tags[value] = set;
            } else {
                others.emplace_back(value, set);
            }
        }
    }
    const grouped_ids sets(model.value_count(), [&](auto take) {
        for (const auto& [value, set] : others) {
            take(value, set);
        }
    });
    const module_lookup<module_tree> lookup(modules);
    detail::tag_union united(modules.index(), selected, default_tag_cap, pool);
    for (id value = 0; value < tags.size(); ++value) {
        if (const auto more = sets[value]; !more.empty()) {
            united.clear();
            united.add(tags[value]);
            std::for_each(more.begin(), more.end(), [&](id_set set) { united.add(set); });
            tags[value] = united.get();
        } else if (tags[value] != no_id) {
            continue;
        } else if (const auto producer = model.producer(value); producer != no_id) {
            tags[value] = tagged.tag_sets[producer];
        } else {
            const auto path = owner_path(model.value_name(value));
            tags[value] = tagged.tags.selected(
                model.is_initializer(value) ? find_longest(lookup, path).first : 0);
        }
    }
    return {std::move(tags), std::move(pool)};
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_VALUE_TAGS_HPP
