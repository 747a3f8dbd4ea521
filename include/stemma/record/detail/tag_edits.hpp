// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_TAG_EDITS_HPP
#define STEMMA_RECORD_DETAIL_TAG_EDITS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tag_attribute.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// A `carrier_sink`: what is written about one operator, as protobuf fields of a node.
class wire_carrier_sink {
public:
    /// Clears it for the next operator.
    void clear() {
        metadata_.clear();
        source_attribute_.clear();
        tags_attribute_.clear();
        doc_line_.clear();
        name_space_.clear();
        has_name_space_ = false;
        has_mark_ = false;
    }

    void metadata(std::string_view key, std::string_view value) {
        detail::append_entry(detail::onnx_fields::node::metadata_props, key, value, metadata_);
    }

    void attribute(std::string_view name, std::string_view value) {
        append_attribute(name, std::span(&value, 1), detail::onnx_fields::attribute::s, 3);
    }

    void attribute(std::string_view name, std::span<const std::string> values) {
        append_attribute(name, values, detail::onnx_fields::attribute::strings, 8);
    }

    void doc_line(std::string_view line) { doc_line_ = line; }

    void name_space(std::string_view path) {
        detail::append_entry(detail::onnx_fields::node::metadata_props, namespace_key, path,
                             name_space_);
        has_name_space_ = true;
    }

    void mark() { has_mark_ = true; }

    /// Returns: entries of `metadata_props`, with tags and lengths; valid until `clear`.
    [[nodiscard]] std::string_view metadata_fields() const noexcept { return metadata_; }

    /// Returns: the attribute `source_module` as a field, or ""; valid until `clear`.
    [[nodiscard]] std::string_view source_attribute() const noexcept { return source_attribute_; }

    /// Returns: the attribute `hierarchy_tags` as a field, or ""; valid until `clear`.
    [[nodiscard]] std::string_view tags_attribute() const noexcept { return tags_attribute_; }

    /// Whether node `node` gets lines in its doc_string.
    [[nodiscard]] bool has_doc_lines() const noexcept { return has_mark_ || !doc_line_.empty(); }

    /// Appends what is added to a node's doc_string: one or two lines, without a trailing line
    /// break.
    void append_doc_lines(id node, std::string& text) const {
        text.append(doc_line_);
        if (has_mark_) {
            text.append(doc_line_.empty() ? "" : "\n");
            append_mark(node, text);
        }
    }

    /// Returns: the entry `namespace` as a field, or ""; valid until `clear`.
    [[nodiscard]] std::string_view name_space_field() const noexcept { return name_space_; }

    /// Whether the carrier writes an entry `namespace`, even if it is "".
    [[nodiscard]] bool has_name_space() const noexcept { return has_name_space_; }

private:
    template <class Values>
    void append_attribute(std::string_view name, const Values& values, std::uint32_t field,
                          std::uint32_t type) {
        using at = detail::onnx_fields::attribute;
        std::string content;
        detail::append_field(at::name, name, content);
        for (const auto& value : values) {
            detail::append_field(field, value, content);
        }
        detail::append_field(at::doc_string, attribute_mark, content);
        detail::append_number(at::type, type, content);
        detail::append_field(detail::onnx_fields::node::attribute, content,
                             name == source_module_attribute ? source_attribute_ : tags_attribute_);
    }

    std::string metadata_;
    std::string source_attribute_;
    std::string tags_attribute_;
    std::string doc_line_;
    std::string name_space_;
    bool has_name_space_ = false;
    bool has_mark_ = false;
};

/// Edits that remove all stemma data from a message and, for a node, add new tags.
class tag_edits {
public:
    /// `our_namespaces`: entries `namespace` of nodes were written by stemma, not only those behind
    /// a saved one.
    tag_edits(const wire_model& model, bool our_namespaces)
        : model_(&model), our_namespaces_(our_namespaces) {}

    /// Strips a node and adds `added`, if any, which must outlive the edits. Requires: no edits of
    /// another message. Complexity: O(fields of the node); O(1) if it cannot have anything of ours.
    void edit_node(id node, const wire_carrier_sink* added, message_edits& edits) const {
        const auto message = model_->message(node);
        const auto end = message.begin + message.size;
        const auto seen =
            model_->may_hold_tags(node) ? edit_fields(node, added, edits) : node_survey{};
        if (added == nullptr) {
            return;
        }
        insert(end, added->metadata_fields(), edits);
        if (!seen.foreign_source_attribute) {
            insert(end, added->source_attribute(), edits);
        }
        if (!seen.foreign_tags_attribute) {
            insert(end, added->tags_attribute(), edits);
        }
        if (!seen.has_doc_string && added->has_doc_lines()) {
            std::string lines;
            added->append_doc_lines(node, lines);
            edits.insert_field(end, at_node::doc_string, lines);
        }
        insert(end, added->name_space_field(), edits);
    }

    /// Strips an initializer or a value info, whose metadata are field `metadata_field`;
    /// `added_tags`, if any, is written as its `hierarchy_tags`.
    /// Complexity: O(fields); O(1) without metadata.
    template <class Ref>
    void edit_metadata(const Ref& ref, std::uint32_t metadata_field, std::string_view added_tags,
                       message_edits& edits) const {
        const auto message = ref.message;
        if (model_->has_metadata(ref)) {
            auto fields = model_->reader(message);
            for (wire_field field; fields.next(field);) {
                if (field.is_bytes(metadata_field) &&
                    is_tag_entry(wire_model::read_entry(fields, field).first)) {
                    edits.remove(field.begin, field.end);
                }
            }
        }
        if (!added_tags.empty()) {
            edits.insert_entry(message.begin + message.size, metadata_field, hierarchy_tags_key,
                               added_tags);
        }
    }

    /// Strips the metadata of the model; `added` is appended to the file.
    /// Complexity: O(fields of the model).
    void edit_model(std::string_view added, message_edits& edits) const {
        auto fields = model_->reader();
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::model::metadata_props) &&
                is_tag_entry(wire_model::read_entry(fields, field).first)) {
                edits.remove(field.begin, field.end);
            }
        }
        insert(static_cast<std::uint32_t>(model_->bytes().size()), added, edits);
    }

    /// The part of a doc_string that is not ours, and whether the field existed before us.
    struct doc_split {
        /// Bytes at the front that are not ours, without the line break after them.
        std::size_t kept = 0;
        bool whole_field_ours = false; ///< stemma created the doc_string
    };

    /// Whether a line of a doc_string was written by stemma.
    [[nodiscard]] static bool is_our_line(std::string_view line) noexcept {
        return line.starts_with(doc_line_mark) || parse_mark(line) != no_id;
    }

    /// Returns: where the trailing lines written by stemma begin.
    /// Complexity: O(length).
    [[nodiscard]] static doc_split split_doc_string(std::string_view text) noexcept {
        for (auto kept = text.size();;) {
            const auto line = text.substr(0, kept).rfind('\n');
            const auto begin = line == text.npos ? 0 : line + 1;
            if (!is_our_line(text.substr(begin, kept - begin))) {
                return {kept, false};
            }
            if (begin == 0) {
                return {0, true};
            }
            kept = line;
        }
    }

private:
    using at_node = detail::onnx_fields::node;

    struct node_survey {
        bool has_doc_string = false; // that stays
        bool foreign_source_attribute = false;
        bool foreign_tags_attribute = false;
        bool saved_namespace = false;      // has been read, so that what follows is ours
        std::uint32_t last_doc_string = 0; // of several fields, the last one counts
        std::uint32_t last_name = 0;
    };

    static void insert(std::uint32_t at, std::string_view text, message_edits& edits) {
        if (!text.empty()) {
            edits.insert_kept(at, text);
        }
    }

    /// `given` is the name that stemma gave the node, if it did; known only after its metadata.
    node_survey edit_fields(id node, const wire_carrier_sink* added, message_edits& edits,
                            bool given = false) const {
        const auto message = model_->message(node);
        node_survey seen;
        auto survey = model_->reader(message);
        for (wire_field field; survey.next(field);) {
            if (field.is_bytes(at_node::doc_string)) {
                seen.last_doc_string = field.begin;
            } else if (field.is_bytes(at_node::name)) {
                seen.last_name = field.begin;
            }
        }
        auto fields = model_->reader(message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_node::metadata_props)) {
                const auto [key, value] = wire_model::read_entry(fields, field);
                if (!given && key == node_name_key && is_name(node, value)) {
                    edits.clear();
                    return edit_fields(node, added, edits, true);
                }
                seen.saved_namespace |= key == saved_namespace_key;
                edit_entry(fields, field, key, our_namespaces_ || seen.saved_namespace,
                           added != nullptr && added->has_name_space(), edits);
            } else if (given && field.is_bytes(at_node::name) && field.begin == seen.last_name) {
                edits.remove(field.begin, field.end);
            } else if (field.is_bytes(at_node::attribute)) {
                edit_attribute(fields, field, seen, edits);
            } else if (field.is_bytes(at_node::doc_string) && field.begin == seen.last_doc_string) {
                edit_doc_string(node, fields, field, added, seen, edits);
            }
        }
        return seen;
    }

    [[nodiscard]] bool is_name(id node, std::string_view text) const {
        return !text.empty() && text == model_->name(node);
    }

    void edit_entry(const wire_reader& fields, const wire_field& field, std::string_view key,
                    bool our_namespace, bool adds_namespace, message_edits& edits) const {
        if (key == saved_namespace_key) {
            if (!adds_namespace) {
                rename_entry(fields, field, namespace_key, edits);
            }
        } else if (is_tag_entry(key) || (key == namespace_key && our_namespace)) {
            edits.remove(field.begin, field.end);
        } else if (key == namespace_key && adds_namespace) {
            rename_entry(fields, field, saved_namespace_key, edits);
        }
    }

    /// Replaces the key of an entry; everything else in it stays.
    void rename_entry(const wire_reader& fields, const wire_field& field, std::string_view key,
                      message_edits& edits) const {
        message_edits inside;
        wire_field last; // of several keys, the last one counts
        auto parts = fields.inner(field);
        for (wire_field part; parts.next(part);) {
            last = part.is_bytes(detail::onnx_fields::entry::key) ? part : last;
        }
        inside.replace_content(model_->bytes().data(), last.content, last.end, key);
        std::string length;
        detail::append_varint(static_cast<std::uint64_t>(field.size() + inside.growth()), length);
        edits.replace(detail::length_position(model_->bytes().data(), field.content), field.content,
                      length);
        inside.for_each([&](const edit& e) { edits.replace(e.at, e.at + e.removed, e.text); });
    }

    void edit_attribute(const wire_reader& fields, const wire_field& field, node_survey& seen,
                        message_edits& edits) const {
        if (is_tag_attribute(fields.inner(field))) {
            edits.remove(field.begin, field.end);
            return;
        }
        std::string_view name;
        auto parts = fields.inner(field);
        for (wire_field part; parts.next(part);) {
            name = part.is_bytes(detail::onnx_fields::attribute::name) ? fields.text(part) : name;
        }
        seen.foreign_source_attribute |= name == source_module_attribute;
        seen.foreign_tags_attribute |= name == hierarchy_tags_attribute;
    }

    void edit_doc_string(id node, const wire_reader& fields, const wire_field& field,
                         const wire_carrier_sink* added, node_survey& seen,
                         message_edits& edits) const {
        const auto text = fields.text(field);
        const auto split = split_doc_string(text);
        if (split.whole_field_ours) {
            edits.remove(field.begin, field.end);
            return;
        }
        seen.has_doc_string = true;
        std::string content(text.substr(0, split.kept));
        if (added != nullptr && added->has_doc_lines()) {
            content.append("\n");
            added->append_doc_lines(node, content);
        }
        if (content != text) {
            edits.replace_content(model_->bytes().data(), field.content, field.end, content);
        }
    }

    const wire_model* model_;
    bool our_namespaces_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_TAG_EDITS_HPP
