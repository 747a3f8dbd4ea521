// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_COMPARE_MODELS_HPP
#define STEMMA_COMPARE_COMPARE_MODELS_HPP

#include <stemma/compare/detail/compare_headers.hpp>
#include <stemma/compare/detail/compare_initializers.hpp>
#include <stemma/compare/detail/compare_structure.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
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

namespace detail {

/// Returns: the first difference between what two models with equal graphs declare: versions of
/// used operator sets, types and shapes of inputs and outputs.
/// Complexity: that of `compare_opsets` and `compare_interfaces`.
[[nodiscard]] inline std::optional<structure_difference> compare_declarations(const wire_model& a,
                                                                              const wire_model& b) {
    const auto say = [](const std::string& said, const model_diff::changed_header& one,
                        const std::string& as) {
        const auto or_none = [](const std::string& text) { return text.empty() ? "none" : text; };
        return structure_difference{said + one.what + as + or_none(one.first) + ", the other one" +
                                        as + or_none(one.second),
                                    no_id, no_id};
    };
    if (const auto opsets = compare_opsets(a, b); !opsets.empty()) {
        return say("uses ", opsets.front(), " ");
    }
    if (const auto types = compare_interfaces(a, b); !types.empty()) {
        return say("declares ", types.front(), " as ");
    }
    return std::nullopt;
}

} // namespace detail

/// The result of comparing two models.
struct model_comparison {
    /// What is compared.
    struct choice {
        bool structure = true;    ///< graphs, operators and attributes
        bool initializers = true; ///< names, types, shapes and data
        bool tags = true;         ///< primary tags
    };

    choice parts;                                          ///< what was compared; the rest is empty
    std::optional<detail::structure_difference> structure; ///< the first one, if there is any
    std::size_t renamed_nodes = 0;                         ///< in equal graphs
    std::size_t same_initializers = 0;                     ///< their number
    std::vector<detail::initializer_difference> initializers; ///< in file order
    std::optional<tag_comparison> tags;                       ///< of partners

    /// Whether no difference was found.
    [[nodiscard]] bool is_equal() const noexcept {
        return !structure && initializers.empty() && (!tags || tags->is_equal());
    }
};

/// Compares two models. Nodes of equal graphs are matched by place, others by name.
/// Throws: `error` of `error_code::cannot_read`, `malformed`.
/// Complexity: that of `compare_structure`, `compare_initializers` and `compare_tags`.
[[nodiscard]] inline model_comparison compare_models(const attributed_model& first,
                                                     const attributed_model& second,
                                                     const model_comparison::choice& parts = {}) {
    model_comparison result;
    result.parts = parts;
    auto structure = detail::compare_structure(first.model(), second.model());
    auto partners = std::move(structure.partners);
    if (structure.difference) {
        partners = match_by_name(first.model(), second.model());
    } else {
        for (id node = 0; node < partners.size(); ++node) {
            const auto other = second.model().name(partners[node]);
            result.renamed_nodes += first.model().name(node) == other ? 0U : 1U;
        }
    }
    if (parts.structure) {
        result.structure = structure.difference
                               ? std::move(structure.difference)
                               : detail::compare_declarations(first.model(), second.model());
    }
    if (parts.initializers) {
        result.same_initializers = detail::compare_initializers(
            first.model(), second.model(),
            [&](const auto& difference) { result.initializers.push_back(difference); });
    }
    if (parts.tags) {
        result.tags = compare_tags(first.tags(), second.tags(), partners);
    }
    return result;
}

namespace detail {

template <text_sink Sink>
void write_difference(json_writer<Sink>& json, const model_comparison& comparison,
                      const attributed_model& first, const attributed_model& second) {
    const auto write_node = [&](std::string_view key, const attributed_model& opened, id node) {
        const auto& model = opened.model();
        json.key(key);
        if (node == no_id) {
            json.null();
            return;
        }
        json.begin_object(true);
        json.member("node", position_text(model, node));
        json.member("name", model.name(node));
        json.member("op_type", model.op_type(node));
        json.member("module",
                    opened.modules().report_path(opened.tags().attributions[node].module));
        json.end_object();
    };
    json.key("structure");
    json.begin_object();
    json.member("equal", !comparison.structure);
    json.member("renamed_nodes", comparison.renamed_nodes);
    json.key("difference");
    if (comparison.structure) {
        json.begin_object();
        json.member("text", comparison.structure->text);
        write_node("first", first, comparison.structure->first);
        write_node("second", second, comparison.structure->second);
        json.end_object();
    } else {
        json.null();
    }
    json.end_object();
}

template <text_sink Sink>
void write_initializers(json_writer<Sink>& json, const model_comparison& comparison) {
    json.key("initializers");
    json.begin_object();
    json.member("equal", comparison.initializers.empty());
    json.member("same", comparison.same_initializers);
    json.objects("differences", comparison.initializers, [&](const auto& one) {
        json.member("change", to_string(one.change));
        json.member("name", one.name);
        json.key("other");
        one.other.empty() ? json.null() : json.value(one.other);
        json.member("text", one.text);
    });
    json.end_object();
}

template <text_sink Sink>
void write_moves(json_writer<Sink>& json, const tag_comparison& tags, const onnx_model& first) {
    json.key("tags");
    json.begin_object();
    json.member("equal", tags.is_equal());
    json.member("same", tags.same);
    json.member("only_first", tags.only_first);
    json.member("only_second", tags.only_second);
    const auto write_counts = [&](std::string_view key, const auto& counts) {
        json.objects(key, counts, [&](const auto& one) {
            json.member("tag", one.tag);
            json.member("nodes", one.nodes);
        });
    };
    write_counts("vanished", tags.vanished);
    write_counts("appeared", tags.appeared);
    json.objects("moved", tags.moves, [&](const auto& one) {
        json.member("from", one.from);
        json.member("to", one.to);
        json.member("nodes", one.nodes);
        json.member("example", position_text(first, one.example));
    });
    json.end_object();
}

} // namespace detail

/// Writes a comparison (`stemma.compare/1`) of models given by path.
/// Complexity: O(length).
template <text_sink Sink>
void write_json(Sink& sink, const model_comparison& comparison, const attributed_model& first,
                const attributed_model& second) {
    detail::write_document(sink, "stemma.compare/1", [&](auto& json) {
        json.member("first", first.model().file());
        json.member("second", second.model().file());
        json.member("equal", comparison.is_equal());
        if (comparison.parts.structure) {
            detail::write_difference(json, comparison, first, second);
        }
        if (comparison.parts.initializers) {
            detail::write_initializers(json, comparison);
        }
        if (comparison.tags) {
            detail::write_moves(json, *comparison.tags, first.model());
        }
    });
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_COMPARE_MODELS_HPP
