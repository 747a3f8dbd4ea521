// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_READ_TAGS_HPP
#define STEMMA_RECORD_DETAIL_READ_TAGS_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/json_stream.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/tag_lookup.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/node_origins.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tag_attribute.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/origin_texts.hpp>
#include <stemma/record/detail/recorded_tags.hpp>
#include <stemma/record/detail/tag_edits.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What the carriers in a file say about one node.
struct carried_tags {
    std::optional<std::string> module; ///< path of the deepest module
    std::optional<std::string> tag;    ///< the primary tag
};

/// What each carrier on a node says.
struct node_carriers {
    carried_tags metadata;                 ///< entries under `pkg.stemma.`
    carried_tags doc_string;               ///< the last line
    carried_tags attribute;                ///< attributes marked as stemma's
    std::vector<std::string_view> modules; ///< in metadata: all of them, if the key is repeated
    std::vector<id> marks;                 ///< in the doc_string
    std::optional<std::string_view> all;   ///< in metadata: the list of all tags, as JSON
    nlohmann::json doc_all;                ///< that in the doc_string
    std::optional<std::string_view> name_space; ///< for viewers; not necessarily stemma's
};

/// Tags are in the last lines; marks may be anywhere, as tools concatenate doc_strings.
inline void read_doc_string(std::string_view text, node_carriers& carriers) {
    carriers.doc_string = {};
    carriers.marks.clear();
    const auto kept = tag_edits::split_doc_string(text).kept;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        auto line = text.substr(begin, end - begin);
        if (const auto number = parse_mark(line); number != no_id) {
            carriers.marks.push_back(number);
        } else if (begin >= kept && line.starts_with(doc_line_mark)) {
            line.remove_prefix(doc_line_mark.size());
            auto parsed = nlohmann::json::parse(line, nullptr, false);
            const auto read = [&](const char* key, std::optional<std::string>& to) {
                if (parsed.is_object() && parsed.contains(key) && parsed[key].is_string()) {
                    to = parsed[key].get<std::string>();
                }
            };
            read("module", carriers.doc_string.module);
            read("source_module", carriers.doc_string.tag);
            if (parsed.is_object() && parsed.contains("hierarchy_tags")) {
                carriers.doc_all = std::move(parsed["hierarchy_tags"]);
            }
        }
        begin = end + 1;
    }
}

/// Complexity: O(fields of the node).
[[nodiscard]] inline node_carriers read_node_carriers(const wire_model& model, id node) {
    using at_node = detail::onnx_fields::node;
    using at_attribute = detail::onnx_fields::attribute;
    node_carriers result;
    if (!model.may_hold_tags(node)) {
        return result;
    }
    auto fields = model.reader(model.message(node));
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at_node::metadata_props)) {
            const auto [key, value] = wire_model::read_entry(fields, field);
            if (key == module_key) {
                result.metadata.module = value;
                result.modules.push_back(value);
            } else if (key == source_module_key) {
                result.metadata.tag = value;
            } else if (key == hierarchy_tags_key) {
                result.all = value;
            } else if (key == namespace_key) {
                result.name_space = value;
            }
        } else if (field.is_bytes(at_node::doc_string)) {
            detail::read_doc_string(fields.text(field), result);
        } else if (field.is_bytes(at_node::attribute) && is_tag_attribute(fields.inner(field))) {
            auto parts = fields.inner(field);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(at_attribute::s)) {
                    result.attribute.tag = fields.text(part);
                }
            }
        }
    }
    return result;
}

/// Whether a tool dropped the metadata of the main graph's nodes, and with them an exporter's, from
/// a tagged file whose sketch may still tell their modules.
/// Complexity: O(fields of the nodes), up to the first with a module.
[[nodiscard]] inline bool has_lost_metadata(const wire_model& model, const carrier_set& carriers) {
    if (!carriers.metadata || !carriers.mark) {
        return false;
    }
    bool any = false;
    for (id node = 0; node < model.node_count(); ++node) {
        if (model.graph_of(node) == 0) {
            if (read_node_carriers(model, node).metadata.module) {
                return false;
            }
            any = true;
        }
    }
    return any;
}

[[nodiscard]] inline carried_tags first_of(const node_carriers& carriers) {
    for (const auto* entry : {&carriers.metadata, &carriers.doc_string, &carriers.attribute}) {
        if (entry->module || entry->tag) {
            return *entry;
        }
    }
    return {};
}

/// Reads the carriers on a node: metadata first, else the doc_string, else attributes.
/// Complexity: O(fields of the node).
[[nodiscard]] inline carried_tags read_carried_tags(const wire_model& model, id node) {
    return detail::first_of(read_node_carriers(model, node));
}

/// Finds modules by what the `namespace` carrier writes.
class namespace_lookup {
public:
    /// Requires: `modules` outlives this. Complexity: O(length of names).
    explicit namespace_lookup(const module_tree& modules) : modules_(modules) {
        std::vector<std::uint64_t> hashes(modules.size(), fnv1a(""));
        for (id m = 0; m < modules.size(); ++m) {
            if (m != 0) {
                const auto parent = modules.index().parent(m);
                const auto before = fnv1a(parent == 0 ? "" : "/", hashes[parent]);
                hashes[m] = fnv1a(namespace_carrier::spell(modules.name(m)), before);
            }
            const auto [entry, is_new] = by_hash_.emplace(hashes[m], m);
            entry->second = is_new ? m : no_id;
        }
    }

    /// Returns: the module with that text; `no_id` for none or several.
    /// Complexity: O(length) expected.
    [[nodiscard]] id find(std::string_view text) const {
        const auto entry = by_hash_.find(fnv1a(text));
        const auto candidate = entry == by_hash_.end() ? no_id : entry->second;
        return candidate != no_id && modules_.path_length(candidate) == text.size() &&
                       namespace_carrier::spell(modules_.path(candidate)) == text
                   ? candidate
                   : no_id;
    }

private:
    const module_tree& modules_;
    std::unordered_map<std::uint64_t, id> by_hash_; // of texts; `no_id` for several modules
};

/// Finds the modules that the carriers on nodes refer to, in a tree with its tags.
class carrier_modules {
public:
    /// Requires: `modules` and `tags` outlive this. Complexity: O(1); if nodes may have
    /// `namespaces` of ours, that of a `namespace_lookup`.
    carrier_modules(const module_tree& modules, const tag_table& tags, bool namespaces)
        : modules_(&modules), tags_(&tags) {
        if (namespaces) {
            by_namespace_.emplace(modules);
        }
    }

    /// Returns: the module, or the common ancestor of several; `no_id` if none is in the tree.
    /// Complexity: O(length) expected; O(modules) the first time that only a tag is present.
    [[nodiscard]] id find(const node_carriers& carriers) {
        const auto carried = first_of(carriers);
        if (carried.module) {
            const module_lookup<module_tree> lookup(*modules_);
            auto module = find_module(lookup, *carried.module);
            for (const auto other : carriers.modules) {
                const auto target = find_module(lookup, other);
                module = module == no_id || target == no_id ? module
                                                            : modules_->index().lca(module, target);
            }
            return module;
        }
        if (carried.tag) {
            if (!by_tag_) {
                by_tag_.emplace(*tags_);
            }
            return by_tag_->find(*carried.tag);
        }
        return carriers.name_space && by_namespace_ ? by_namespace_->find(*carriers.name_space)
                                                    : no_id;
    }

private:
    const module_tree* modules_;
    const tag_table* tags_;
    std::optional<namespace_lookup> by_namespace_;
    std::optional<tag_lookup> by_tag_;
};

/// Returns: the table of tags by node, if there is a readable one.
[[nodiscard]] inline std::optional<recorded_tags> read_table(const wire_model& model,
                                                             std::size_t modules, bool& damaged) {
    const auto table = find_model_metadata(model, tag_table_key);
    try {
        return table ? std::optional(
                           read_recorded_tags(*table, model.file(), model.node_count(), modules))
                     : std::nullopt;
    } catch (const error& problem) {
        if (problem.code() != error_code::malformed) {
            throw;
        }
    }
    damaged = true;
    return std::nullopt;
}

/// What a file itself says about the modules of its nodes.
struct carried_modules {
    std::vector<id> of;         ///< by node; `no_id` for none
    bool table_damaged = false; ///< the table of tags is unreadable
};

/// Finds the module that the file itself gives for every node; `no_id` if none or unknown to the
/// tree; the common ancestor of several. For a tag alone it is the module with that tag. A
/// `namespace` counts only if it is the sole information on a node and was written by stemma, and a
/// table only if it is readable. Complexity: O(modules + nodes + fields).
[[nodiscard]] inline carried_modules
read_carried_modules(const wire_model& model, const module_tree& modules, const tag_table& tags) {
    carried_modules carried;
    auto table = detail::read_table(model, modules.size(), carried.table_damaged);
    carried.of = table ? std::move(table->module) : std::vector<id>(model.node_count(), no_id);
    detail::carrier_modules named(modules, tags, detail::has_our_namespaces(model));
    for (id node = 0; node < model.node_count(); ++node) {
        const auto module = named.find(read_node_carriers(model, node));
        carried.of[node] = module != no_id ? module : carried.of[node];
    }
    return carried;
}

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

#endif // STEMMA_RECORD_DETAIL_READ_TAGS_HPP
