// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_READ_TAGS_HPP
#define STEMMA_ONNX_WIRE_READ_TAGS_HPP

#include <stemma/core/id.hpp>
#include <stemma/detail/onnx_fields.hpp>
#include <stemma/io/json_stream.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/model_record.hpp>
#include <stemma/onnx/wire/tag_edits.hpp>
#include <stemma/onnx/wire/tag_model.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/onnx/wire/wire_reader.hpp>
#include <stemma/policy/carrier.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma {

/// What the carriers in a file say of one node.
struct carried_tags {
    std::optional<std::string> module; ///< path of the deepest module
    std::optional<std::string> tag;    ///< the primary tag
};

/// Reads what the carriers on a node say: metadata first, else the doc_string, else attributes.
/// Complexity: O(fields of the node).
[[nodiscard]] inline carried_tags read_carried_tags(const wire_model& model, id node) {
    using at_node = detail::onnx_fields::node;
    using at_attribute = detail::onnx_fields::attribute;
    carried_tags from_metadata;
    carried_tags from_doc;
    carried_tags from_attribute;
    if (!model.may_hold_tags(node)) {
        return {};
    }
    auto fields = model.reader(model.message(node));
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at_node::metadata_props)) {
            const auto [key, value] = wire_model::read_entry(fields, field);
            if (key == module_key) {
                from_metadata.module = value;
            } else if (key == source_module_key) {
                from_metadata.tag = value;
            }
        } else if (field.is_bytes(at_node::doc_string)) {
            const auto text = fields.text(field);
            const auto split = tag_edits::split_doc_string(text);
            auto line = text.substr(split.kept);
            from_doc = {};
            if (!line.empty()) {
                line.remove_prefix(line.find(doc_line_mark) + doc_line_mark.size());
                const auto parsed = nlohmann::json::parse(line, nullptr, false);
                if (parsed.is_object() && parsed.contains("module") &&
                    parsed["module"].is_string()) {
                    from_doc.module = parsed["module"].get<std::string>();
                }
                if (parsed.is_object() && parsed.contains("source_module") &&
                    parsed["source_module"].is_string()) {
                    from_doc.tag = parsed["source_module"].get<std::string>();
                }
            }
        } else if (field.is_bytes(at_node::attribute) && tag_edits::is_ours(fields.inner(field))) {
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(at_attribute::s)) {
                    from_attribute.tag = fields.text(part);
                }
            }
        }
    }
    for (auto* found : {&from_metadata, &from_doc, &from_attribute}) {
        if (found->module || found->tag) {
            return std::move(*found);
        }
    }
    return {};
}

/// Returns: the selected module of every tag.
/// Complexity: O(length of all tags).
[[nodiscard]] inline std::unordered_map<std::string, id> modules_by_tag(const tag_table& tags) {
    std::unordered_map<std::string, id> by_tag;
    for (id m = 0; m < tags.size(); ++m) {
        if (tags.is_selected(m)) {
            by_tag.emplace(tags.text(m), m);
        }
    }
    return by_tag;
}

/// Finds the module that the file itself names for every node; `no_id` where it names none, or one
/// that the tree lacks. From a tag alone it is the module that has the tag.
/// Complexity: O(nodes + fields + length of all tags).
[[nodiscard]] inline std::vector<id>
read_carried_modules(const wire_model& model, const module_tree& modules, const tag_table& tags) {
    std::vector<id> result(model.node_count(), no_id);
    if (const auto table = find_model_metadata(model, tag_table_key)) {
        result =
            read_recorded_tags(*table, model.file(), model.node_count(), modules.size()).module;
    }
    std::unordered_map<std::string, id> by_tag;
    const module_lookup<module_tree> lookup(modules);
    for (id node = 0; node < model.node_count(); ++node) {
        const auto carried = read_carried_tags(model, node);
        if (carried.module) {
            const auto module = find_module(lookup, *carried.module);
            result[node] = module != no_id ? module : result[node];
        } else if (carried.tag) {
            if (by_tag.empty()) {
                by_tag = modules_by_tag(tags);
            }
            if (const auto found = by_tag.find(*carried.tag); found != by_tag.end()) {
                result[node] = found->second;
            }
        }
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_READ_TAGS_HPP
