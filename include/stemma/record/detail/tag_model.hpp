// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_TAG_MODEL_HPP
#define STEMMA_RECORD_DETAIL_TAG_MODEL_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/json_text.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/node_origins.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/given_names.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/origin_texts.hpp>
#include <stemma/record/detail/recorded_tags.hpp>
#include <stemma/record/detail/tag_edits.hpp>
#include <stemma/record/detail/value_tags.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A module's text composed from all its ancestors, like its path and its tag: those of neighbours
/// mostly share a prefix, so each is spelled from where it differs from the previous one.
class lineage_text {
public:
    /// Spells the text of `m`: `above(m)` is its predecessor, `no_id` for the first one, and
    /// `append(m, level, text)` adds its own part; the first one has level 0.
    ///
    /// Requires: predecessors have lower numbers; both functions are deterministic.
    /// Returns: the text; valid until the next call.
    /// Complexity: that of the parts not shared with the previous text.
    template <class Above, class Append>
    std::string_view spell(id m, Above above, Append append) {
        missing_.clear();
        for (; m != no_id; m = above(m)) {
            while (!spelled_.empty() && spelled_.back().m > m) {
                spelled_.pop_back();
            }
            if (!spelled_.empty() && spelled_.back().m == m) {
                break;
            }
            missing_.push_back(m);
        }
        text_.resize(spelled_.empty() ? 0 : spelled_.back().end);
        for (; !missing_.empty(); missing_.pop_back()) {
            append(missing_.back(), spelled_.size(), text_);
            spelled_.push_back({missing_.back(), text_.size()});
        }
        return text_;
    }

private:
    struct part {
        id m = no_id;
        std::size_t end = 0; // of its text
    };

    std::string text_;
    std::vector<part> spelled_; // each precedes the next one
    std::vector<id> missing_;
};

/// Spells what is written about operators. The texts are valid until the next call.
class tag_texts {
public:
    /// Requires: both outlive the texts.
    tag_texts(const module_tree& modules, const tagging& tagged)
        : modules_(&modules), tags_(&tagged) {}

    /// Complexity: O(length).
    [[nodiscard]] operator_tags of_operator(id v) {
        const auto module = tags_->attributions[v].module;
        const auto set = tags_->tag_sets[v];
        all_.clear();
        const bool recomputed = tags_->origins.kind(v) == origin_kind::unknown;
        if (tags_->pool.size_of(set) < 2 && (recomputed || set == tags_->selected(v))) {
            return {tag_of(module), path_of(module), all_, {}};
        }
        tags_->pool.for_each(set, [&](id m) { all_.emplace_back(tag_of(m)); });
        const auto json = as_json(set, tags_->pool); // also spells tags
        return {tag_of(module), path_of(module), all_, json};
    }

    /// Returns: the tags of a set as a JSON array.
    /// Requires: `pool` is that of the tagging, or extends it and is always the same one.
    /// Complexity: O(length), O(1) for the last set.
    [[nodiscard]] std::string_view as_json(id_set set, const id_set_pool& pool) {
        if (set == last_set_ && !json_.empty()) {
            return json_;
        }
        last_set_ = set;
        json_.clear();
        pool.for_each(set, [&](id m) {
            json_.append(json_.empty() ? "[" : ", ");
            append_json_string(tag_of(m), json_);
        });
        json_.append("]");
        return json_;
    }

private:
    [[nodiscard]] std::string_view tag_of(id m) {
        const auto& tags = tags_->tags;
        return tag_.spell(
            tags.writable(m), [&](id selected) { return tags.above(selected); },
            [&](id selected, std::size_t, std::string& text) {
                text.push_back('/');
                text.append(tags.segment(selected));
            });
    }

    [[nodiscard]] std::string_view path_of(id m) {
        return path_.spell(
            m, [&](id inner) { return modules_->index().parent(inner); },
            [&](id inner, std::size_t level, std::string& text) {
                if (level > 1) {
                    text.push_back('.');
                }
                if (level > 0) {
                    text.append(modules_->name(inner));
                }
            });
    }

    const module_tree* modules_;
    const tagging* tags_;
    detail::lineage_text tag_;
    detail::lineage_text path_;
    std::vector<std::string> all_;
    std::string json_; // of `last_set_`, once there is one
    id_set last_set_ = no_id;
};

/// Returns: the value of a metadata entry of the model, if it exists.
[[nodiscard]] inline std::optional<std::string_view> find_model_metadata(const wire_model& model,
                                                                         std::string_view key) {
    std::optional<std::string_view> result;
    model.for_each_model_metadata([&](std::string_view name, std::string_view value) {
        if (name == key) {
            result = value;
        }
    });
    return result;
}

/// Returns: the model's record of its tags, if it was tagged.
/// Throws: `error` of `error_code::malformed` if that is damaged.
[[nodiscard]] inline std::optional<recorded_model> find_model_record(const wire_model& model) {
    const auto text = find_model_metadata(model, model_key);
    return text ? std::optional(read_model_record(*text, model.file())) : std::nullopt;
}

/// Returns: the record in an entry of the model's metadata, `model_key` or `fold_modules_key`;
/// nothing if it is damaged, which is reported to `problems` if not null.
[[nodiscard]] inline std::optional<recorded_model>
find_readable_record(const wire_model& model, std::string_view key,
                     std::vector<std::string>* problems = nullptr) {
    const auto text = find_model_metadata(model, key);
    try {
        return text ? std::optional(read_model_record(*text, model.file())) : std::nullopt;
    } catch (const error& problem) {
        if (problem.code() != error_code::malformed) {
            throw;
        }
    }
    if (problems != nullptr) {
        problems->push_back(std::string(key) + " cannot be read and is ignored");
    }
    return std::nullopt;
}

/// Returns: the tree in the record of a tagged model, nothing if the bytes do not look like a
/// model. Throws: as `wire_model` and `find_model_record`, and `error` of `malformed` if it was not
/// tagged. Complexity: that of `wire_model`.
[[nodiscard]] inline std::optional<module_tree> find_recorded_modules(std::string_view bytes,
                                                                      std::string_view path) {
    // Text begins with no control characters except white space.
    const bool is_text = bytes.empty() || static_cast<unsigned char>(bytes.front()) >= 0x20 ||
                         std::string_view("\t\n\r").find(bytes.front()) != std::string_view::npos;
    if (is_text) {
        return std::nullopt;
    }
    auto record = find_model_record(wire_model(bytes, std::string(path)));
    if (!record) {
        STEMMA_THROW(error(error_code::malformed, std::string(path), "",
                           "is an untagged model, which contains no modules"));
    }
    return std::move(record->modules);
}

[[nodiscard]] inline bool has_our_namespaces(const wire_model& model) {
    const auto record = find_model_metadata(model, model_key);
    return record && records_namespaces(*record);
}

/// Removes all stemma data from a model. A `model_editor`.
class strip_editor {
public:
    /// Requires: `model` outlives the editor.
    explicit strip_editor(const wire_model& model) : edits_(model, has_our_namespaces(model)) {}

    /// Edits the metadata of a node.
    void edit_node(id node, message_edits& edits) const { edits_.edit_node(node, nullptr, edits); }
    /// Edits the metadata of an initializer.
    void edit_tensor(const tensor_ref& tensor, message_edits& edits) const {
        edits_.edit_metadata(tensor, onnx_fields::tensor::metadata_props, {}, edits);
    }
    /// Edits the metadata of a value.
    void edit_value_info(const value_info_ref& info, message_edits& edits) const {
        edits_.edit_metadata(info, onnx_fields::value_info::metadata_props, {}, edits);
    }
    /// Edits the metadata of the model.
    void edit_model(message_edits& edits) const { edits_.edit_model({}, edits); }

private:
    tag_edits edits_;
};

/// Replaces all stemma data in a model by a new tagging. A `model_editor`.
///
/// `Carrier` determines what is written on nodes; initializers and value infos get `values`,
/// see `find_value_tags`, or none if it is empty; record, table, sketch and source lines, unless
/// empty, go to the model's metadata.
template <carrier_policy Carrier>
class tag_editor {
public:
    /// Requires: all arguments outlive the editor.
    tag_editor(const wire_model& model, const module_tree& modules, const tagging& tagged,
               const Carrier& carrier, value_tags values, std::string_view record,
               std::string_view table, std::string_view sketch = {}, std::string_view sources = {})
        : model_(&model)
        , modules_(&modules)
        , tags_(&tagged)
        , carrier_(carrier)
        , texts_(modules, tagged)
        , edits_(model, has_our_namespaces(model)) {
        shared_facts facts;
        facts.values = std::move(values);
        constexpr auto metadata = onnx_fields::model::metadata_props;
        append_entry(metadata, model_key, record, facts.added_to_model);
        if (!table.empty()) {
            append_entry(metadata, tag_table_key, table, facts.added_to_model);
        }
        if (!sketch.empty()) {
            append_entry(metadata, sketch_key, sketch, facts.added_to_model);
        }
        if (!sources.empty()) {
            append_entry(metadata, sources_key, sources, facts.added_to_model);
        }
        facts_ = std::make_shared<const shared_facts>(std::move(facts));
    }

    /// Edits the metadata of a node.
    void edit_node(id node, message_edits& edits) {
        const auto module = tags_->attributions[node].module;
        const auto tags = tags_->tag_sets[node];
        const bool carried = tags_->origins.kind(node) != origin_kind::unknown;
        const auto chain = sources_ == nullptr ? no_id : sources_->chain_of(node);
        if (module != last_module_ || tags != last_tags_ || chain != last_chain_ || carried) {
            last_module_ = carried ? no_id : module;
            last_tags_ = tags;
            last_chain_ = chain;
            sink_.clear();
            auto texts = texts_.of_operator(node);
            if (carried) {
                origins_.clear();
                append_origins(tags_->origins, *modules_, node, name_after(node), module, origins_);
                texts.origins = origins_;
            }
            const auto number = chain == no_id ? std::string() : std::to_string(chain);
            texts.source = number;
            carrier_.write(texts, sink_);
        }
        edits_.edit_node(node, &sink_, edits);
        if (names_) {
            names_->edit_node(node, edits);
        }
    }

    /// Writes each node's chain of these lines. Requires: `lines`, in a record of the model,
    /// outlives this.
    void write_sources(const source_lines& lines) { sources_ = &lines; }

    /// Names unnamed nodes. Complexity: that of `given_names`.
    void name_nodes(const wire_model& model) {
        names_ = std::make_shared<const given_names>(model);
    }

    /// Edits the metadata of an initializer.
    void edit_tensor(const tensor_ref& tensor, message_edits& edits) {
        constexpr auto metadata = onnx_fields::tensor::metadata_props;
        edits_.edit_metadata(tensor, metadata, tags_of(tensor.value), edits);
        if (const auto text = parameter_of(tensor); !text.empty()) {
            edits.insert_entry(tensor.message.begin + tensor.message.size, metadata, parameter_key,
                               text);
        }
    }

    /// Writes a text for each initializer, by number, unless it is "".
    /// Requires: the texts outlive the editor.
    void write_parameters(const std::vector<std::string>& texts) { parameters_ = &texts; }

    /// Writes what initializers had, unless `write_parameters` is called.
    void keep_parameters() { keeps_parameters_ = true; }

    /// Edits the metadata of a value.
    void edit_value_info(const value_info_ref& info, message_edits& edits) {
        edits_.edit_metadata(info, onnx_fields::value_info::metadata_props, tags_of(info.value),
                             edits);
    }

    /// Edits the metadata of the model.
    void edit_model(message_edits& edits) const {
        edits_.edit_model(facts_->added_to_model, edits);
    }

private:
    // Shared between the copies of several threads, as these may be large.
    struct shared_facts {
        value_tags values;
        std::string added_to_model;
    };

    // Of a node, as written.
    [[nodiscard]] std::string_view name_after(id node) const {
        const auto given = names_ ? names_->of(node) : std::string_view();
        return !given.empty() || has_given_name(*model_, node) ? given : model_->name(node);
    }

    [[nodiscard]] std::string_view parameter_of(const tensor_ref& tensor) const {
        if (parameters_ != nullptr) {
            return (*parameters_)[static_cast<std::size_t>(&tensor - model_->tensors().data())];
        }
        std::string_view text;
        if (keeps_parameters_ && model_->has_metadata(tensor)) {
            model_->for_each_entry(tensor.message, onnx_fields::tensor::metadata_props,
                                   [&](std::string_view key, std::string_view value) {
                                       text = key == parameter_key ? value : text;
                                   });
        }
        return text;
    }

    [[nodiscard]] std::string_view tags_of(id value) {
        const auto& [sets, pool] = facts_->values;
        return value < sets.size() ? texts_.as_json(sets[value], pool) : std::string_view{};
    }

    const wire_model* model_;
    const module_tree* modules_;
    const tagging* tags_;
    Carrier carrier_;
    tag_texts texts_;
    tag_edits edits_;
    wire_carrier_sink sink_;
    std::string origins_; // of the last node
    id last_module_ = no_id;
    id_set last_tags_ = no_id;
    id last_chain_ = no_id;
    const source_lines* sources_ = nullptr; // null if not written
    std::shared_ptr<const shared_facts> facts_;
    std::shared_ptr<const given_names> names_;             // null if not written
    const std::vector<std::string>* parameters_ = nullptr; // by initializer
    bool keeps_parameters_ = false;
};

/// Returns: the table that the `model` carrier writes. Complexity: O(nodes + their tags).
[[nodiscard]] inline recorded_tags to_table(const tagging& tagged) {
    recorded_tags table;
    for (id v = 0; v < tagged.attributions.size(); ++v) {
        table.module.push_back(tagged.attributions[v].module);
        if (tagged.pool.size_of(tagged.tag_sets[v]) > 1) {
            tagged.pool.for_each(tagged.tag_sets[v], [&](id m) { table.several[v].push_back(m); });
        }
    }
    return table;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_TAG_MODEL_HPP
