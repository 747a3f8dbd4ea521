// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_VALUE_TAGS_HPP
#define STEMMA_ONNX_VALUE_TAGS_HPP

#include <stemma/algorithm/propagate_tags.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/id_set_pool.hpp>
#include <stemma/evidence/path_mapping.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/tagger.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace stemma {

/// The nodes that read each value, in order, each as often as it reads it.
class value_readers {
public:
    /// Complexity: O(values + inputs).
    explicit value_readers(const onnx_model& model) : first_(model.value_count() + 1) {
        for (id node = 0; node < model.node_count(); ++node) {
            for (auto value : model.inputs(node)) {
                first_[value == no_id ? model.value_count() : value] += value == no_id ? 0U : 1U;
            }
        }
        id sum = 0;
        for (auto& count : first_) {
            sum += count;
            count = sum;
        }
        nodes_.resize(sum);
        for (auto node = model.node_count(); node-- > 0;) {
            const auto inputs = model.inputs(node);
            for (auto slot = inputs.size(); slot-- > 0;) {
                if (inputs[slot] != no_id) {
                    nodes_[--first_[inputs[slot]]] = node;
                }
            }
        }
    }

    /// Returns: nodes, ascending; empty for a value that nobody reads. Valid as long as this.
    [[nodiscard]] std::span<const id> of(id value) const noexcept {
        return {nodes_.data() + first_[value], nodes_.data() + first_[value + 1]};
    }

private:
    std::vector<id> first_;
    std::vector<id> nodes_;
};

/// Finds the tags of every value: those of its readers; unread, those of its producer; an unread
/// initializer, that of the module its name speaks of; else the root's.
///
/// New sets are added to the tagging's pool.
/// Returns: by value, never empty sets.
/// Complexity: O((values + inputs) * cap).
[[nodiscard]] inline std::vector<id_set>
find_value_tags(const onnx_model& model, const module_tree& modules, tagging& found) {
    std::vector<id> selected(modules.size());
    for (id m = 0; m < selected.size(); ++m) {
        selected[m] = found.tags.selected(m);
    }
    const value_readers readers(model);
    const module_lookup<module_tree> lookup(modules);
    detail::tag_union united(modules.index(), selected, default_tag_cap, found.pool);
    std::vector<id_set> tags(model.value_count());
    for (id value = 0; value < tags.size(); ++value) {
        united.clear();
        for (auto node : readers.of(value)) {
            united.add(found.tag_sets[node]);
        }
        tags[value] = united.get();
        if (tags[value] != no_id) {
            continue;
        }
        if (const auto producer = model.producer(value); producer != no_id) {
            tags[value] = found.tag_sets[producer];
        } else {
            const auto path = owner_path(model.value_name(value));
            tags[value] = found.tags.selected(
                model.is_initializer(value) ? find_longest(lookup, path).first : 0);
        }
    }
    return tags;
}

} // namespace stemma

#endif // STEMMA_ONNX_VALUE_TAGS_HPP
