// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/detail/edit_messages.hpp>

#include "../../catch.hpp"
#include "../models.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/proto/proto_model.hpp>

#include <cstddef>
#include <string>

namespace test::proto_detail_edit_messages {

namespace {

using stemma::id;
using stemma::message_ref;
using stemma::detail::message_edits;

/// Removes metadata, names, doc_strings and attributes called `hierarchy_tags`, and gives each
/// message its number.
class numbering_editor {
public:
    explicit numbering_editor(const stemma::wire_model& model) : model_(&model) {}

    void edit_node(id node, message_edits& edits) const {
        auto fields = model_->reader(model_->message(node));
        for (stemma::detail::wire_field field; fields.next(field);) {
            const bool goes = field.is_bytes(3) || field.is_bytes(6) || field.is_bytes(9) ||
                              (field.is_bytes(5) &&
                               fields.text(field).find("hierarchy_tags") != std::string_view::npos);
            if (goes) {
                edits.remove(field.begin, field.end);
            }
        }
        add(model_->message(node), 9, node, edits);
    }
    void edit_tensor(const stemma::tensor_ref& tensor, message_edits& edits) const {
        add(tensor.message, 16, static_cast<id>(&tensor - model_->tensors().data()), edits);
    }
    void edit_value_info(const stemma::value_info_ref& info, message_edits& edits) const {
        add(info.message, 4, static_cast<id>(&info - model_->value_infos().data()), edits);
    }
    void edit_model(message_edits& edits) const {
        add({0, static_cast<std::uint32_t>(model_->bytes().size()), stemma::no_id}, 14, 0, edits);
    }

private:
    static void add(message_ref message, std::uint32_t field, id number, message_edits& edits) {
        edits.insert_entry(message.begin + message.size, field, "number", std::to_string(number));
    }

    const stemma::wire_model* model_;
};

template <class Proto>
void check_as_in_file(Proto model) {
    const stemma::proto_model tables(model);
    numbering_editor editor(tables);
    const auto bytes = test::bytes_of(model);
    const stemma::wire_model file(bytes);
    numbering_editor of_file(file);
    stemma::detail::rewrite plan(file, of_file);
    stemma::detail::string_splice out(bytes);
    plan.write(out);

    stemma::detail::edit_messages(model, tables, editor);

    const bool same = test::bytes_of(model) == test::bytes_of(test::parse<Proto>(out.text));
    CHECK(same);
}

/// Returns: a node after edits of its bytes, which `edit(node's fields, message, edits)` makes.
template <class Edit>
onnx::NodeProto edited(const onnx::NodeProto& node, Edit edit) {
    onnx::ModelProto model;
    *model.mutable_graph()->add_node() = node;
    const stemma::proto_model tables(model);
    message_edits edits;
    edit(tables.reader(tables.message(0)), edits);
    stemma::detail::apply_edits(tables, tables.message(0), edits,
                                *model.mutable_graph()->mutable_node(0));
    return model.graph().node(0);
}

/// Removes the entries with a key.
auto without(std::string_view key) {
    return [key](stemma::detail::wire_reader fields, message_edits& edits) {
        for (stemma::detail::wire_field field; fields.next(field);) {
            if (field.is_bytes(9) && stemma::wire_model::read_entry(fields, field).first == key) {
                edits.remove(field.begin, field.end);
            }
        }
    };
}

} // namespace

TEST_CASE("edit_messages: changes messages as the file") {
    check_as_in_file(test::rare_model<onnx::ModelProto>());
    check_as_in_file(test::rare_model<newer_onnx::ModelProto>());
    for (const auto& path : test::model_files()) {
        INFO(path);
        check_as_in_file(test::load(path));
        check_as_in_file(test::load<newer_onnx::ModelProto>(path));
    }
}

TEST_CASE("apply_edits: very many entries are removed in one pass") {
    onnx::NodeProto node;
    onnx::NodeProto remaining;
    for (int i = 0; i < 100'000; ++i) {
        test::add_metadata(node, i % 2 == 0 ? "ours" : "theirs", std::to_string(i));
        if (i % 2 != 0) {
            test::add_metadata(remaining, "theirs", std::to_string(i));
        }
    }
    const bool same = test::bytes_of(edited(node, without("ours"))) == test::bytes_of(remaining);
    CHECK(same);
}

TEST_CASE("apply_edits: other unknown fields keep their bytes and places") {
    onnx::NodeProto node;
    onnx::NodeProto expected;
    for (auto* one : {&node, &expected}) {
        auto& unknown = *one->mutable_unknown_fields();
        unknown.AddVarint(9, 7); // the number of metadata, but no bytes
        if (one == &node) {
            test::add_metadata(*one, "ours", "1");
        }
        unknown.AddLengthDelimited(8, "overload");
        test::add_metadata(*one, "theirs", "2");
        unknown.AddFixed32(77, 5);
    }
    CHECK(test::bytes_of(edited(node, without("ours"))) == test::bytes_of(expected));
}

TEST_CASE("apply_edits: a changed entry keeps its other contents") {
    onnx::NodeProto node;
    // The value before the key, and an unknown field.
    node.mutable_unknown_fields()->AddLengthDelimited(9, "\x12\x01v\x0a\x03old\x1a\x01?");
    const auto renamed = edited(node, [](stemma::detail::wire_reader fields, message_edits& edits) {
        stemma::detail::wire_field field;
        REQUIRE(fields.next(field));
        edits.replace(field.content + 5, field.content + 8, "new");
    });
    CHECK(renamed.unknown_fields().field(0).length_delimited() == "\x12\x01v\x0a\x03new\x1a\x01?");
}

} // namespace test::proto_detail_edit_messages
