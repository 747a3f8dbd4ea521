// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PROTO_TAG_PROTO_HPP
#define STEMMA_PROTO_TAG_PROTO_HPP

#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/node_origins.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/structure_digest.hpp>
#include <stemma/proto/detail/edit_messages.hpp>
#include <stemma/proto/detail/metadata_props.hpp>
#include <stemma/proto/proto_model.hpp>
#include <stemma/record/detail/graph_sketch.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/origin_texts.hpp>
#include <stemma/record/detail/recorded_tags.hpp>
#include <stemma/record/detail/tag_edits.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/record/detail/tag_texts.hpp>
#include <stemma/record/detail/value_tags.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// A `carrier_sink` that collects texts for one operator.
class proto_carrier_sink {
public:
    /// An attribute with its texts.
    struct attribute_text {
        std::string name;                ///< one of the two names that a carrier may write
        std::vector<std::string> values; ///< one, unless it is a list
        bool listed = false;             ///< type STRINGS rather than STRING
    };

    void metadata(std::string_view key, std::string_view value) {
        metadata_.emplace_back(key, value);
    }

    void attribute(std::string_view name, std::string_view value) {
        attributes_of(name).push_back({std::string(name), {std::string(value)}, false});
    }

    void attribute(std::string_view name, std::span<const std::string> values) {
        attributes_of(name).push_back({std::string(name), {values.begin(), values.end()}, true});
    }

    void doc_line(std::string_view line) { doc_line_ = line; }
    void name_space(std::string_view path) { name_space_ = path; }
    void mark() { has_mark_ = true; }

    /// Appends everything to node `number`, which was stripped before. Foreign attributes of the
    /// same name stay, and ours are omitted. Complexity: O(entries and attributes of both).
    template <class Node>
    void write(id number, Node& node) const {
        for (const auto& [key, value] : metadata_) {
            add_metadata(node, key, value);
        }
        for (const auto& attributes : attributes_) {
            for (const auto& attribute : attributes) {
                if (!has_attribute(node, attribute.name)) {
                    add_attribute(attribute, node);
                }
            }
        }
        add_line(doc_line_, node);
        if (has_mark_) {
            std::string line;
            append_mark(number, line);
            add_line(line, node);
        }
        if (name_space_) {
            rename_metadata(node, [](std::string_view key) {
                return std::optional(key == namespace_key ? saved_namespace_key : key);
            });
            add_metadata(node, namespace_key, *name_space_);
        }
    }

private:
    // The same order as in files: `source_module` first.
    [[nodiscard]] std::vector<attribute_text>& attributes_of(std::string_view name) {
        return attributes_[name == source_module_attribute ? 0 : 1];
    }

    template <class Node>
    static void add_line(const std::string& line, Node& node) {
        if (!line.empty()) {
            node.set_doc_string(node.has_doc_string() ? node.doc_string() + "\n" + line : line);
        }
    }

    template <class Node>
    [[nodiscard]] static bool has_attribute(const Node& node, std::string_view name) {
        const auto& attributes = node.attribute();
        return range::any_of(attributes,
                             [&](const auto& attribute) { return attribute.name() == name; });
    }

    template <class Node>
    static void add_attribute(const attribute_text& text, Node& node) {
        auto& added = *node.add_attribute();
        added.set_name(text.name);
        for (const auto& value : text.values) {
            text.listed ? added.add_strings(value) : added.set_s(value);
        }
        added.set_doc_string(std::string(attribute_mark));
        added.set_type(text.listed ? added.STRINGS : added.STRING);
    }

    std::vector<std::pair<std::string, std::string>> metadata_;
    std::array<std::vector<attribute_text>, 2> attributes_;
    std::string doc_line_;
    std::optional<std::string> name_space_;
    bool has_mark_ = false;
};

/// Strips messages. An editor for `edit_messages`.
class proto_strip_editor {
public:
    /// `our_namespaces`: stemma wrote the entries `namespace` of nodes, not only those behind a
    /// saved one.
    explicit proto_strip_editor(bool our_namespaces) : our_namespaces_(our_namespaces) {}

    /// Removes entries, attributes and the line of the doc_string, and restores `namespace`.
    /// Complexity: O(entries + attributes + length of the doc_string).
    template <class Node>
    void edit_node(id, Node& node) const {
        if (has_given_name(node)) {
            node.clear_name();
        }
        bool our_namespace = our_namespaces_;
        rename_metadata(node, [&](std::string_view key) -> std::optional<std::string_view> {
            if (key == saved_namespace_key) {
                our_namespace = true;
                return namespace_key;
            }
            const bool ours = is_tag_entry(key) || (key == namespace_key && our_namespace);
            return ours ? std::nullopt : std::optional(key);
        });
        auto& attributes = *node.mutable_attribute();
        int kept = 0;
        for (int i = 0; i < attributes.size(); ++i) {
            if (!is_ours(attributes.Get(i))) {
                attributes.SwapElements(kept++, i);
            }
        }
        attributes.DeleteSubrange(kept, attributes.size() - kept);
        if (node.has_doc_string()) {
            const auto split = tag_edits::split_doc_string(node.doc_string());
            if (split.whole_field_ours) {
                node.clear_doc_string();
            } else if (split.kept < node.doc_string().size()) {
                node.mutable_doc_string()->resize(split.kept);
            }
        }
    }

    /// Whether stemma gave a node its name. Complexity: O(entries).
    template <class Node>
    [[nodiscard]] static bool has_given_name(const Node& node) {
        bool given = false;
        for_each_metadata(node, [&](std::string_view key, std::string_view value) {
            given = given || (key == node_name_key && value == node.name());
        });
        return given;
    }

    /// Removes entries of metadata.
    template <class Tensor>
    void edit_tensor(std::size_t, Tensor& tensor) const {
        strip_metadata(tensor);
    }

    /// Removes entries of metadata.
    template <class Info>
    void edit_value_info(std::size_t, Info& info) const {
        strip_metadata(info);
    }

    /// Removes metadata entries, including the record.
    template <class Proto>
    void edit_model(Proto& model) const {
        strip_metadata(model);
    }

private:
    template <class Message>
    static void strip_metadata(Message& message) {
        rename_metadata(message, [](std::string_view key) {
            return is_tag_entry(key) ? std::nullopt : std::optional(key);
        });
    }

    template <class Attribute>
    [[nodiscard]] static bool is_ours(const Attribute& attribute) {
        return (attribute.name() == source_module_attribute ||
                attribute.name() == hierarchy_tags_attribute) &&
               attribute.doc_string() == attribute_mark && !attribute.has_g() &&
               attribute.graphs_size() == 0;
    }

    bool our_namespaces_;
};

template <class Proto>
[[nodiscard]] proto_strip_editor make_strip_editor(const Proto& model) {
    bool ours = false;
    for_each_metadata(model, [&](std::string_view key, std::string_view value) {
        ours = key == model_key ? records_namespaces(value) : ours;
    });
    return proto_strip_editor(ours);
}

/// Strips and tags messages. An editor for `edit_messages`.
template <model_message Proto, carrier_policy Carrier>
class proto_tag_editor {
public:
    proto_tag_editor(const proto_model<Proto>& model, const module_tree& modules,
                     const tagging& tagged, const Carrier& carrier, bool tag_values)
        : model_(&model)
        , modules_(&modules)
        , tags_(&tagged)
        , carrier_(carrier)
        , texts_(modules, tagged)
        , strip_(make_strip_editor(model.proto())) {
        if (tag_values && model.tensor_count() + model.value_info_count() > 0) {
            values_ = find_value_tags(model, modules, tagged);
        }
    }

    template <class Node>
    void edit_node(id node, Node& message) {
        const auto given =
            keeps_additions_ && strip_.has_given_name(message) ? message.name() : std::string();
        strip_.edit_node(node, message);
        if (!given.empty()) {
            message.set_name(given);
        }
        const auto module = tags_->attributions[node].module;
        const auto tags = tags_->tag_sets[node];
        const bool carried = tags_->origins.kind(node) != origin_kind::unknown;
        const auto chain = sources_ == nullptr ? no_id : sources_->chain_of(node);
        if (module != last_module_ || tags != last_tags_ || chain != last_chain_ || carried) {
            last_module_ = carried ? no_id : module;
            last_tags_ = tags;
            last_chain_ = chain;
            sink_ = {};
            auto texts = texts_.of_operator(node);
            std::string origins;
            if (carried) {
                append_origins(tags_->origins, *modules_, node, message.name(), module, origins);
                texts.origins = origins;
            }
            const auto number = chain == no_id ? std::string() : std::to_string(chain);
            texts.source = number;
            carrier_.write(texts, sink_);
        }
        sink_.write(node, message);
        if (!given.empty()) {
            add_metadata(message, node_name_key, given);
        }
    }

    /// Writes each node's chain of these lines. Requires: `lines`, in a record of the model,
    /// outlives this.
    void write_sources(const source_lines& lines) { sources_ = &lines; }

    /// Keeps the parameters of initializers, and the names given to nodes.
    void keep_additions() { keeps_additions_ = true; }

    template <class Tensor>
    void edit_tensor(std::size_t i, Tensor& message) {
        std::string parameter;
        for_each_metadata(message, [&](std::string_view key, std::string_view value) {
            if (keeps_additions_ && key == parameter_key) {
                parameter = value;
            }
        });
        strip_.edit_tensor(i, message);
        add_tags(model_->tensor_value(i), message);
        if (!parameter.empty()) {
            add_metadata(message, parameter_key, parameter);
        }
    }

    template <class Info>
    void edit_value_info(std::size_t i, Info& message) {
        strip_.edit_value_info(i, message);
        add_tags(model_->value_info_value(i), message);
    }

    void edit_model(Proto& model) const { strip_.edit_model(model); }

private:
    template <class Message>
    void add_tags(id value, Message& message) {
        if (value < values_.sets.size()) {
            add_metadata(message, hierarchy_tags_key,
                         texts_.as_json(values_.sets[value], values_.pool));
        }
    }

    const proto_model<Proto>* model_;
    const module_tree* modules_;
    const tagging* tags_;
    Carrier carrier_;
    tag_texts texts_;
    proto_strip_editor strip_;
    proto_carrier_sink sink_;
    id last_module_ = no_id;
    id_set last_tags_ = no_id;
    id last_chain_ = no_id;
    const source_lines* sources_ = nullptr; // null if not written
    bool keeps_additions_ = false;
    value_tags values_;
};

/// Passes all messages to an editor, and adds record, and table, sketch and source lines unless
/// empty.
template <model_message Proto, class Editor>
void write_tags(Proto& model, Editor& editor, std::string_view record, std::string_view table,
                std::string_view sketch, std::string_view sources = {}) {
    edit_messages(model, editor);
    add_metadata(model, model_key, record);
    if (!table.empty()) {
        add_metadata(model, tag_table_key, table);
    }
    if (!sketch.empty()) {
        add_metadata(model, sketch_key, sketch);
    }
    if (!sources.empty()) {
        add_metadata(model, sources_key, sources);
    }
}

} // namespace detail

/// Strips a model: nodes, initializers, value infos, and model metadata.
///
/// Complexity: O(messages).
/// Throws: `error` of `error_code::malformed` if an unknown metadata field is not an entry;
/// everything before it is then stripped already.
template <detail::model_message Proto>
void strip(Proto& model) {
    auto editor = detail::make_strip_editor(model);
    detail::edit_messages(model, editor);
}

/// Strips a model and tags it, as `tag_editor` does for a file.
///
/// `Carrier` says what to write on nodes; with `tag_values`, initializers and value infos get
/// `hierarchy_tags`. `record`, and `table` and `sketch` unless empty, go to the model's metadata.
/// Requires: `tagged` is up to date with the model. Throws: as
/// `proto_model`, leaving the model unchanged, and as `strip`. Complexity: O(messages +
/// values + length of the output).
template <detail::model_message Proto, carrier_policy Carrier>
void tag(Proto& model, const module_tree& modules, const tagging& tagged, const Carrier& carrier,
         bool tag_values, std::string_view record, std::string_view table,
         std::string_view sketch = {}) {
    const proto_model<Proto> tables(model);
    detail::proto_tag_editor<Proto, Carrier> editor(tables, modules, tagged, carrier, tag_values);
    detail::write_tags(model, editor, record, table, sketch);
}

/// As above, with the record, table and sketch that the carriers need. `about` may have the options
/// of the attribution, and whether the tree was derived from the model.
template <detail::model_message Proto>
void tag(Proto& model, const module_tree& modules, const tagging& tagged,
         const carrier_set& carriers = {}, detail::model_record about = {}) {
    const proto_model<Proto> tables(model);
    about.carriers = carriers;
    about.describe(tables.node_count(), detail::find_digests(tables));
    tag(model, modules, tagged, carriers, carriers.metadata, detail::to_json(about, modules),
        carriers.model ? detail::to_json(detail::to_table(tagged)) : std::string(),
        carriers.mark ? detail::to_json(detail::sketch_of(tables, tagged.attributions))
                      : std::string());
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_TAG_PROTO_HPP
