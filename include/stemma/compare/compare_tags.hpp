// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_COMPARE_TAGS_HPP
#define STEMMA_COMPARE_COMPARE_TAGS_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The differences in primary tags between two models.
struct tag_comparison {
    /// Nodes that moved from one tag to another.
    struct move {
        std::string from;      ///< tag in the first model
        std::string to;        ///< tag of the partner in the second model
        std::size_t nodes = 0; ///< their number
        id example = no_id;    ///< the first such node of the first model
    };
    /// The number of nodes with a tag.
    struct tag_count {
        std::string tag;       ///< of one of the models
        std::size_t nodes = 0; ///< their number
    };

    std::size_t same = 0;            ///< nodes with equal tags
    std::size_t only_first = 0;      ///< nodes without a partner
    std::size_t only_second = 0;     ///< nodes of the second model without a partner
    std::vector<move> moves;         ///< by tags of the first model, in the order of its tree
    std::vector<tag_count> vanished; ///< tags of nodes of the first model only
    std::vector<tag_count> appeared; ///< tags of nodes of the second model only

    /// Whether all matched nodes have the same tags.
    [[nodiscard]] bool is_equal() const noexcept {
        return moves.empty() && vanished.empty() && appeared.empty();
    }
};

/// Returns: for every node of `a` the node of `b` with the same name, if unique in both models;
/// else `no_id`. Complexity: O(nodes) expected.
[[nodiscard]] inline std::vector<id> match_by_name(const onnx_model& a, const onnx_model& b) {
    const auto names_of = [](const onnx_model& model) {
        std::unordered_map<std::string_view, id> nodes; // `no_id` for an ambiguous name
        for (id node = 0; node < model.node_count(); ++node) {
            if (const auto [entry, is_new] = nodes.emplace(model.name(node), node); !is_new) {
                entry->second = no_id;
            }
        }
        nodes.erase(std::string_view());
        return nodes;
    };
    const auto first = names_of(a);
    const auto second = names_of(b);
    std::vector<id> partners(a.node_count(), no_id);
    for (const auto& [name, node] : first) {
        const auto partner = second.find(name);
        if (node != no_id && partner != second.end()) {
            partners[node] = partner->second;
        }
    }
    return partners;
}

/// Compares the tags of nodes with those of their partners (`no_id` for none).
/// Complexity: O(nodes * log tags + length of all tags).
[[nodiscard]] inline tag_comparison compare_tags(const tagging& a, const tagging& b,
                                                 std::span<const id> partners) {
    tag_comparison result;
    const auto count = [](const tagging& tagged) {
        std::map<id, std::size_t> nodes; // by selected module
        for (id v = 0; v < tagged.attributions.size(); ++v) {
            ++nodes[tagged.selected(v)];
        }
        return nodes;
    };
    const auto in_first = count(a);
    const auto in_second = count(b);
    std::unordered_map<std::string, id> second_tags;
    for (const auto& [module, nodes] : in_second) {
        second_tags.emplace(b.tags.text(module), module);
    }
    std::map<id, id> same_tag; // by module of the first: the one of the second
    for (const auto& [module, nodes] : in_first) {
        auto tag = a.tags.text(module);
        const auto entry = second_tags.find(tag);
        if (entry != second_tags.end()) {
            same_tag.emplace(module, entry->second);
            second_tags.erase(entry);
        } else {
            result.vanished.push_back({std::move(tag), nodes});
        }
    }
    for (const auto& [module, nodes] : in_second) {
        auto tag = b.tags.text(module);
        if (second_tags.contains(tag)) {
            result.appeared.push_back({std::move(tag), nodes});
        }
    }
    std::map<std::pair<id, id>, std::pair<std::size_t, id>> moves;
    std::size_t matched = 0;
    for (id v = 0; v < partners.size(); ++v) {
        if (partners[v] == no_id) {
            ++result.only_first;
            continue;
        }
        ++matched;
        const auto from = a.selected(v);
        const auto to = b.selected(partners[v]);
        const auto equal = same_tag.find(from);
        if (equal != same_tag.end() && equal->second == to) {
            ++result.same;
        } else {
            ++moves.try_emplace({from, to}, 0U, v).first->second.first;
        }
    }
    result.only_second = b.attributions.size() - matched;
    for (const auto& [modules, nodes] : moves) {
        result.moves.push_back(
            {a.tags.text(modules.first), b.tags.text(modules.second), nodes.first, nodes.second});
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_COMPARE_TAGS_HPP
