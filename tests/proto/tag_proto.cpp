// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/tag_proto.hpp>

#include "../catch.hpp"
#include "../sanitized.hpp"
#include "../tagged_bytes.hpp"
#include "models.hpp"

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/proto/proto_model.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <google/protobuf/util/message_differencer.h>

#include <cstddef>
#include <string>

namespace test::proto_tag_proto {

namespace {

template <class Proto>
std::string stripped(Proto model) {
    stemma::strip(model);
    return test::bytes_of(model);
}

// Field by field, unknown ones included, and in the order of repeated ones.
template <class Proto>
void check_equal(const Proto& actual, const Proto& expected) {
    using google::protobuf::util::MessageDifferencer;
    if (test::bytes_of(actual) != test::bytes_of(expected)) {
        std::string differences;
        MessageDifferencer differencer;
        differencer.ReportDifferencesToString(&differences);
        CHECK(differencer.Compare(expected, actual));
        FAIL(differences.substr(0, 2000));
    }
}

template <class Proto>
void check_carriers(const Proto& untagged) {
    const auto bytes = test::bytes_of(untagged);
    test::tagged_model file(bytes);
    stemma::detail::model_record about;
    about.from_model = true;
    CHECK(stripped(untagged) == bytes);
    // Every fifth set where a sanitizer watches; which ones differs from file to file.
    const unsigned step = test::sanitized ? 5 : 1;
    for (auto i = static_cast<unsigned>(bytes.size() % step); i < test::carrier_sets; i += step) {
        INFO("carriers " << i);
        const auto carriers = test::carriers_of(i);
        auto model = untagged;
        stemma::tag(model, file.modules, file.found, carriers, about);
        check_equal(model, test::parse<Proto>(file.write(carriers)));
        CHECK(stripped(model) == bytes);
        auto again = model;
        stemma::tag(again, file.modules, file.found, carriers, about);
        check_equal(again, model);
    }
}

onnx::ModelProto small_model() {
    onnx::ModelProto model;
    auto& graph = *model.mutable_graph();
    graph.set_name("net");
    graph.add_initializer()->set_name("a.weight");
    graph.add_initializer()->set_name("b.weight");
    test::add_node(graph, "MatMul", "/a/MatMul", {"x", "a.weight"}, {"h"});
    test::add_node(graph, "MatMul", "/b/MatMul", {"h", "b.weight"}, {"y"});
    return model;
}

} // namespace

TEST_CASE("tag: writes the same into messages as into files, and strip removes it") {
    for (const auto& path : test::model_files()) {
        INFO(path);
        check_carriers(test::load(path));
    }
}

TEST_CASE("tag: keeps foreign data as in the file, in every schema") {
    check_carriers(test::rare_model<onnx::ModelProto>());
    check_carriers(test::rare_model<newer_onnx::ModelProto>());
}

TEST_CASE("strip: removes from messages what was put into the file, and vice versa") {
    const auto bytes = test::bytes_of(test::rare_model<onnx::ModelProto>());
    test::tagged_model file(bytes);
    for (unsigned i = 0; i < test::carrier_sets; ++i) {
        INFO("carriers " << i);
        const auto tagged = test::parse(file.write(test::carriers_of(i)));
        CHECK(stripped(tagged) == bytes);
        CHECK(test::bytes_of(test::parse(test::strip(test::bytes_of(tagged)))) == bytes);
    }
}

TEST_CASE("tag: records the caller's options") {
    auto model = small_model();
    const auto untagged = test::bytes_of(model);
    const test::tagged_model file(untagged);
    stemma::detail::model_record about;
    about.from_model = true;
    about.options["select"] = "all";

    stemma::tag(model, file.modules, file.found, {}, about);

    const auto bytes = test::bytes_of(model);
    const auto record = stemma::detail::find_model_record(stemma::wire_model(bytes));
    REQUIRE(record);
    CHECK(record->from_model);
    CHECK(record->options.at("select") == "all");
    CHECK(record->nodes == 2);
    CHECK(record->modules.size() == file.modules.size());
}

TEST_CASE("strip: a damaged entry is an error") {
    auto model = small_model();
    model.mutable_graph()->mutable_node(1)->mutable_unknown_fields()->AddLengthDelimited(
        9, "\x0a\x7fshort");
    const auto before = test::bytes_of(model);

    CHECK_THROWS_AS(stemma::strip(model), stemma::error);

    CHECK(test::bytes_of(model) == before);
}

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

} // namespace test::proto_tag_proto
