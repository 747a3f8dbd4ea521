// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PROTO_TAG_PROTO_HPP
#define STEMMA_PROTO_TAG_PROTO_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/detail/structure_digest.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/message_refs.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/proto/proto_model.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// The bytes of a file with edits, taken range by range from the front.
class edited_bytes {
public:
    /// Requires: `file` and the texts of the edits outlive it.
    edited_bytes(std::string_view file, const message_edits& edits) : file_(file) {
        edits.for_each([&](const edit& e) { edits_.push_back(e); });
    }

    /// Whether there are edits before a position that were not taken yet.
    [[nodiscard]] bool changes_before(std::uint32_t end) const noexcept {
        return next_ < edits_.size() && edits_[next_].at < end;
    }

    /// Returns: [begin, end) of the file as edited, without what is inserted at its end.
    [[nodiscard]] std::string take(std::uint32_t begin, std::uint32_t end) {
        std::string text;
        for (; changes_before(end); ++next_) {
            text.append(file_.substr(begin, edits_[next_].at - begin)).append(edits_[next_].text);
            begin = edits_[next_].at + edits_[next_].removed;
        }
        return text.append(file_.substr(begin, end - begin));
    }

    /// Returns: what is inserted after everything taken.
    [[nodiscard]] std::string take_rest() {
        std::string text;
        for (; next_ < edits_.size(); ++next_) {
            text.append(edits_[next_].text);
        }
        return text;
    }

private:
    std::string_view file_;
    std::vector<edit> edits_;
    std::size_t next_ = 0;
};

/// A field of a message that edits change.
struct changed_field {
    std::uint32_t number = 0;
    int index = 0;      ///< among those with this number
    std::string text{}; ///< tag, length and content as they become; "" if removed

    /// Returns: the new content. Requires: not removed.
    [[nodiscard]] std::string content() const {
        wire_reader reader(text.data(), 0, static_cast<std::uint32_t>(text.size()), "model");
        wire_field whole;
        static_cast<void>(reader.next(whole));
        return std::string(reader.text(whole));
    }
};

/// Makes changes to those of `count` elements of a message that `is_one(i)`, with `set(i,
/// content)`, and moves all that stay to the front, with `swap(to, from)`.
/// Returns: how many stay. Complexity: O(count).
template <class IsOne, class Set, class Swap>
[[nodiscard]] int change_elements(std::span<const changed_field> changes, int count, IsOne is_one,
                                  Set set, Swap swap) {
    int index = 0;
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        if (!changes.empty() && is_one(i) && changes.front().index == index++) {
            const auto& change = changes.front();
            changes = changes.subspan(1);
            if (change.text.empty()) {
                continue;
            }
            set(i, change.content());
        }
        if (kept != i) {
            swap(kept, i);
        }
        ++kept;
    }
    return kept;
}

/// Changes the fields with one number, whether the schema of the message knows it or not.
inline void change_fields(std::span<const changed_field> changes,
                          google::protobuf::Message& message) {
    const auto number = static_cast<int>(changes.front().number);
    const auto& reflection = *message.GetReflection();
    const auto* const known = message.GetDescriptor()->FindFieldByNumber(number);
    if (known == nullptr) {
        auto& all = *reflection.MutableUnknownFields(&message);
        const auto kept = change_elements(
            changes, all.field_count(),
            [&](int i) {
                return all.field(i).number() == number &&
                       all.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
            },
            [&](int i, std::string content) {
                *all.mutable_field(i)->mutable_length_delimited() = std::move(content);
            },
            [&](int to, int from) { std::swap(*all.mutable_field(to), *all.mutable_field(from)); });
        all.DeleteSubrange(kept, all.field_count() - kept);
    } else if (known->is_repeated()) {
        const auto count = reflection.FieldSize(message, known);
        const auto kept = change_elements(
            changes, count, [](int) { return true; },
            [&](int i, const std::string& content) {
                reflection.MutableRepeatedMessage(&message, known, i)->ParseFromString(content);
            },
            [&](int to, int from) { reflection.SwapElements(&message, known, to, from); });
        for (auto i = kept; i < count; ++i) {
            reflection.RemoveLast(&message, known);
        }
    } else {
        reflection.ClearField(&message, known);
        message.MergeFromString(changes.back().text);
    }
}

/// Makes the changes to a message that edits make to its bytes `where` in a model: to fields with
/// texts or messages, and behind all fields. Everything else in it stays as it is.
/// Complexity: O(fields + edits).
inline void apply_edits(const wire_model& model, message_ref where, const message_edits& edits,
                        google::protobuf::Message& message) {
    if (edits.empty()) {
        return;
    }
    edited_bytes bytes(model.bytes(), edits);
    std::vector<changed_field> changes;
    std::array<int, 32> seen{}; // by number; what stemma changes has a low one
    auto fields = model.reader(where);
    for (wire_field field; bytes.changes_before(where.begin + where.size) && fields.next(field);) {
        if (field.number < seen.size() && field.is_bytes(field.number)) {
            const auto index = seen[field.number]++;
            if (bytes.changes_before(field.end)) {
                changes.push_back({field.number, index, bytes.take(field.begin, field.end)});
            }
        }
    }
    for (std::span<const changed_field> rest = changes; !rest.empty();) {
        std::size_t alike = 1;
        while (alike < rest.size() && rest[alike].number == rest.front().number) {
            ++alike;
        }
        change_fields(rest.first(alike), message);
        rest = rest.subspan(alike);
    }
    message.MergeFromString(bytes.take_rest());
}

/// Iterates over the messages of a model in the order of the `wire_model` of its bytes.
template <model_editor Editor>
class message_walk {
public:
    message_walk(const wire_model& model, Editor& editor) : model_(model), editor_(editor) {}

    template <class Graph>
    void graph(Graph& graph) {
        for (auto& node : *graph.mutable_node()) {
            walk_node(node);
        }
        for (auto& tensor : *graph.mutable_initializer()) {
            walk_tensor(tensor);
        }
        for (auto* infos :
             {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
            for (auto& info : *infos) {
                walk_value_info(info);
            }
        }
        for (auto& sparse : *graph.mutable_sparse_initializer()) {
            if (sparse.has_values()) {
                walk_tensor(*sparse.mutable_values());
            }
        }
    }

    template <class Function>
    void function(Function& function) {
        for (auto& node : *function.mutable_node()) {
            walk_node(node);
        }
        if constexpr (requires { function.mutable_value_info(); }) {
            for (auto& info : *function.mutable_value_info()) {
                walk_value_info(info);
            }
        } else {
            walk_unknown_infos(*function.GetReflection()->MutableUnknownFields(&function));
        }
    }

private:
    template <class Node>
    void walk_node(Node& node) {
        for (auto& attribute : *node.mutable_attribute()) {
            if (attribute.has_g()) {
                graph(*attribute.mutable_g());
            }
            for (auto& body : *attribute.mutable_graphs()) {
                graph(body);
            }
        }
        edits_.clear();
        editor_.edit_node(node_, edits_);
        apply_edits(model_, model_.message(node_++), edits_, node);
    }

    void walk_tensor(google::protobuf::Message& message) {
        const auto& tensor = model_.tensors()[tensor_++];
        edits_.clear();
        editor_.edit_tensor(tensor, edits_);
        apply_edits(model_, tensor.message, edits_, message);
    }

    [[nodiscard]] const value_info_ref& next_value_info() {
        const auto& info = model_.value_infos()[info_++];
        edits_.clear();
        editor_.edit_value_info(info, edits_);
        return info;
    }

    void walk_value_info(google::protobuf::Message& message) {
        const auto& info = next_value_info();
        apply_edits(model_, info.message, edits_, message);
    }

    /// Of a function in a schema that does not know them.
    void walk_unknown_infos(google::protobuf::UnknownFieldSet& fields) {
        for (int i = 0; i < fields.field_count(); ++i) {
            const auto& field = fields.field(i);
            if (field.number() == static_cast<int>(onnx_fields::function::value_info) &&
                field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
                const auto [begin, size, container] = next_value_info().message;
                edited_bytes bytes(model_.bytes(), edits_);
                auto text = bytes.take(begin, begin + size);
                text += bytes.take_rest();
                fields.mutable_field(i)->set_length_delimited(text);
            }
        }
    }

    const wire_model& model_;
    Editor& editor_;
    message_edits edits_;
    id node_ = 0;
    std::size_t tensor_ = 0;
    std::size_t info_ = 0;
};

/// Makes the changes to a model in messages that an editor makes to its bytes, without tensor data
/// being copied. Requires: `model` was read from these messages, which are as they were.
/// Complexity: O(messages), and that of the editor.
template <class Proto, model_editor Editor>
void edit_messages(Proto& message, const wire_model& model, Editor& editor) {
    message_walk<Editor> walk(model, editor);
    walk.graph(*message.mutable_graph());
    for (auto& function : *message.mutable_functions()) {
        walk.function(function);
    }
    message_edits edits;
    editor.edit_model(edits);
    apply_edits(model, {0, static_cast<std::uint32_t>(model.bytes().size()), no_id}, edits,
                message);
}

} // namespace detail

/// Strips a model: nodes, initializers, value infos, and model metadata.
///
/// Throws: as `proto_model`, leaving the model unchanged; `error` of `error_code::malformed` if an
/// unknown metadata field is not an entry: everything before it is then stripped already.
/// Complexity: O(messages), and that of `proto_model`.
template <detail::model_message Proto>
void strip(Proto& model) {
    const proto_model tables(model);
    detail::strip_editor editor(tables);
    detail::edit_messages(model, tables, editor);
}

/// Strips a model and tags it, as `tag` does for a file: with the record, table and sketch that the
/// carriers need. `about` may have the options of the attribution, and whether the tree was derived
/// from the model.
///
/// Requires: `tagged` is up to date with the model. Throws: as `strip`. Complexity: O(messages +
/// values + length of the output), and that of `proto_model`.
template <detail::model_message Proto>
void tag(Proto& model, const module_tree& modules, const tagging& tagged,
         const carrier_set& carriers = {}, detail::model_record about = {}) {
    const proto_model tables(model);
    about.carriers = carriers;
    about.describe(tables.node_count(), detail::find_digests(tables));
    auto editor = detail::make_tag_editor(
        tables, modules, tagged, [&](const carrier_set&) { return about; }, carriers);
    detail::edit_messages(model, tables, editor);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_TAG_PROTO_HPP
