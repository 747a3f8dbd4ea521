// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_READ_ORIGINS_HPP
#define STEMMA_RECORD_DETAIL_READ_ORIGINS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/tag_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/node_origins.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/origin_texts.hpp>
#include <stemma/record/detail/read_tags.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the origins stored with a model's nodes, whose tags were carried over from an original;
/// `attributions` are theirs. Complexity: O(fields of the nodes).
[[nodiscard]] inline node_origins read_origins(const wire_model& model, const module_tree& modules,
                                               std::span<const attribution> attributions) {
    node_origins origins;
    origin_reader reader(modules, origins);
    for (id node = 0; node < model.node_count(); ++node) {
        std::string_view text;
        model.for_each_metadata(node, [&](std::string_view key, std::string_view value) {
            text = key == origins_key ? value : text;
        });
        reader.add(text, model.name(node), attributions[node].module);
    }
    return origins;
}

/// Returns: the nodes stored with several tags, and the modules of these, if all are known. What is
/// stored on a node precedes the table of tags. Complexity: O(fields of the nodes + modules).
[[nodiscard]] inline std::vector<std::pair<id, std::vector<id>>>
read_several(const wire_model& model, const tag_table& tags) {
    std::vector<std::pair<id, std::vector<id>>> several;
    const tag_lookup lookup(tags);
    const auto find_modules = [&](const nlohmann::json& list) {
        std::vector<id> modules;
        if (!list.is_array()) {
            return modules;
        }
        for (const auto& tag : list) {
            const auto module =
                tag.is_string() ? lookup.find(tag.get_ref<const std::string&>()) : no_id;
            if (module == no_id) {
                return std::vector<id>();
            }
            modules.push_back(module);
        }
        return modules;
    };
    bool damaged = false;
    auto table = read_table(model, tags.size(), damaged);
    for (id node = 0; node < model.node_count(); ++node) {
        const auto carriers = read_node_carriers(model, node);
        auto modules = find_modules(
            carriers.all ? nlohmann::json::parse(*carriers.all, nullptr, false) : carriers.doc_all);
        if (modules.empty() && table && table->several.contains(node)) {
            modules = std::move(table->several[node]);
        }
        if (!modules.empty()) {
            several.emplace_back(node, std::move(modules));
        }
    }
    return several;
}

/// Returns: what a model tagged that way carries. Complexity: as these.
[[nodiscard]] inline carried_facts read_carried(const wire_model& model, const module_tree& modules,
                                                const tagging& tagged) {
    return {read_origins(model, modules, tagged.attributions), read_several(model, tagged.tags)};
}

/// Adds carried facts to a tagging. Complexity: O(tags).
inline void take_carried(carried_facts carried, tagging& tagged) {
    std::vector<id> selected;
    for (const auto& [node, several] : carried.several) {
        selected.clear();
        for (const auto m : several) {
            selected.push_back(tagged.tags.selected(m));
        }
        selected = range::each_once(std::move(selected));
        if (selected.size() <= default_tag_cap) {
            tagged.tag_sets[node] =
                selected.size() == 1 ? selected.front() : tagged.pool.intern(selected);
        }
    }
    tagged.origins = std::move(carried.origins);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_READ_ORIGINS_HPP
