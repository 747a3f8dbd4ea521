// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/rewrite.hpp>

#include "../../catch.hpp"
#include "../../count_of.hpp"
#include "../../model_files.hpp"
#include "../../random_model.hpp"
#include "../../refusal.hpp"
#include "../../scratch_folder.hpp"
#include "../../tagged_bytes.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/record/detail/value_tags.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace test::onnx_detail_rewrite {

namespace {

using stemma::id;
using stemma::detail::message_edits;

struct changes_nothing {
    void edit_node(id, message_edits&) {}
    void edit_tensor(const stemma::tensor_ref&, message_edits&) {}
    void edit_value_info(const stemma::value_info_ref&, message_edits&) {}
    void edit_model(message_edits&) {}
};

/// Appends the same unknown field to every message.
struct appends_everywhere {
    const stemma::wire_model* model;
    std::string field;
    std::size_t asked = 0;

    void append(stemma::message_ref message, message_edits& edits) {
        ++asked;
        edits.insert(message.begin + message.size, field);
    }
    void edit_node(id node, message_edits& edits) { append(model->message(node), edits); }
    void edit_tensor(const stemma::tensor_ref& tensor, message_edits& edits) {
        append(tensor.message, edits);
    }
    void edit_value_info(const stemma::value_info_ref& info, message_edits& edits) {
        append(info.message, edits);
    }
    void edit_model(message_edits& edits) {
        edits.insert(static_cast<std::uint32_t>(model->bytes().size()), field);
    }
};

struct not_an_editor {
    void edit_node(id, message_edits&) {}
};

template <class Editor>
std::string written(const stemma::wire_model& model, Editor& editor) {
    stemma::detail::rewrite plan(model, editor);
    stemma::detail::string_splice out(model.bytes());
    plan.write(out);
    CHECK(static_cast<std::int64_t>(out.text.size()) == plan.size());
    return out.text;
}

} // namespace

TEST_CASE("model_editor: accepts editors and rejects near misses") {
    STATIC_REQUIRE(stemma::detail::model_editor<changes_nothing>);
    STATIC_REQUIRE(stemma::detail::model_editor<const stemma::detail::strip_editor>);
    STATIC_REQUIRE(stemma::detail::model_editor<stemma::detail::tag_editor<stemma::carrier_set>>);
    STATIC_REQUIRE_FALSE(stemma::detail::model_editor<not_an_editor>);
}

TEST_CASE("rewrite: without edits the result is the file, padding and all") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto bytes = test::random_model(seed, true).bytes();
        const stemma::wire_model model(bytes);
        changes_nothing editor;
        const bool same = written(model, editor) == bytes;
        CAPTURE(seed);
        CHECK(same);
    }
}

TEST_CASE("rewrite: an extra field in every message does not change the model") {
    for (const std::size_t size : {1U, 100U, 130U, 20000U}) {
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            CAPTURE(seed, size);
            const auto bytes = test::random_model(seed, true).bytes();
            const stemma::wire_model model(bytes);
            const std::string mark = "the mark " + std::string(size, '.');
            appends_everywhere editor{&model, test::message().text(999, mark).bytes()};
            const auto result = written(model, editor);
            const auto messages =
                model.node_count() + model.tensors().size() + model.value_infos().size();
            CHECK(editor.asked <= 2 * messages);
            CHECK(count_of(result, mark) == messages + 1);
            const stemma::wire_model again(result);
            REQUIRE(again.node_count() == model.node_count());
            CHECK(again.tensors().size() == model.tensors().size());
            CHECK(again.value_infos().size() == model.value_infos().size());
            CHECK(again.value_count() == model.value_count());
            for (id node = 0; node < model.node_count(); ++node) {
                REQUIRE(again.name(node) == model.name(node));
                REQUIRE(again.op_type(node) == model.op_type(node));
                REQUIRE(again.owner(node) == model.owner(node));
            }
        }
    }
}

TEST_CASE("rewrite: writes files and bytes alike") {
    const test::scratch_folder folder;
    auto weights = test::message().text(8, "w").text(9, std::string(3 << 20U, 'w'));
    auto graph = test::graph({test::node("Relu", {"x"}, {"y"}, "/encoder/Relu")}, {"x"}, {"y"});
    graph.inner(5, weights).inner(5, weights);
    const auto bytes = test::model(graph).bytes();
    const auto path = folder.make("model.onnx", bytes);
    const stemma::mapped_file file(path);
    test::tagged_model tagged(file.bytes());
    const auto expected = tagged.write({});

    const auto result = folder.file("tagged.onnx");
    {
        const auto record =
            stemma::detail::find_model_metadata(stemma::wire_model(expected), "pkg.stemma.model");
        REQUIRE(record);
        stemma::detail::tag_editor editor(
            tagged.model, tagged.modules, tagged.found, stemma::carrier_set{},
            stemma::detail::find_value_tags(tagged.model, tagged.modules, tagged.found), *record,
            {});
        stemma::detail::rewrite plan(tagged.model, editor);
        stemma::output_file output(result);
        stemma::detail::file_splice splice(file, output);
        plan.write(splice);
        output.commit(false);
    }
    const bool same = test::read_bytes(result) == expected;
    CHECK(same);
}

TEST_CASE("rewrite: output is independent of the number of threads") {
    const test::scratch_folder folder;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const auto bytes = test::random_model(seed, seed % 2 == 0).bytes();
        const auto path = folder.make("model.onnx", bytes);
        const stemma::mapped_file file(path);
        const stemma::wire_model model(file.bytes());
        for (const std::size_t size : {1U, 130U}) {
            const std::string mark(size, '.');
            appends_everywhere editor{&model, test::message().text(999, mark).bytes()};
            const auto expected = written(model, editor);
            for (const unsigned most : {2U, 3U, 16U}) {
                CAPTURE(seed, size, most);
                const stemma::thread_scope threads({most, 1});
                stemma::detail::rewrite plan(model, editor);
                REQUIRE(plan.size() == static_cast<std::int64_t>(expected.size()));
                stemma::detail::string_splice in_one_go(model.bytes());
                plan.write(in_one_go);
                const bool same = in_one_go.text == expected;
                CHECK(same);
                const auto result = folder.file("written.onnx");
                stemma::output_file output(result);
                plan.write(file, output);
                output.commit(false);
                const bool same_file = test::read_bytes(result) == expected;
                CHECK(same_file);
            }
        }
    }
}

TEST_CASE("rewrite: rejects a result of 2 GiB before writing anything") {
    // A sparse file: the weights take no space, and are never read.
    const test::scratch_folder folder;
    const auto path = folder.file("large.onnx");
    const std::uint64_t goal = (std::uint64_t{1} << 31U) - 100;
    const auto node = test::model(test::graph({test::node("Relu", {"x"}, {"y"}, "/a/Relu")}));
    std::string tail = node.bytes();
    std::string head;
    {
        // graph { initializer { raw_data } } with lengths of five bytes each
        const auto content = goal - tail.size() - 18;
        test::put_varint(7U << 3U | 2U, head);
        test::put_varint(content + 12, head, 5);
        test::put_varint(5U << 3U | 2U, head);
        test::put_varint(content + 6, head, 5);
        test::put_varint(9U << 3U | 2U, head);
        test::put_varint(content, head, 5);
        std::ofstream out(path, std::ios::binary);
        out << head;
        out.seekp(static_cast<std::streamoff>(goal - tail.size()));
        out << tail;
    }
    REQUIRE(std::filesystem::file_size(path) == goal);
    const stemma::mapped_file file(path);
    test::tagged_model tagged(file.bytes());
    const stemma::wire_model& model = tagged.model;
    REQUIRE(model.node_count() == 1);

    stemma::detail::tag_editor editor(
        model, tagged.modules, tagged.found, stemma::carrier_set{},
        stemma::detail::find_value_tags(model, tagged.modules, tagged.found), "record", {});
    CHECK(test::refusal([&] { return stemma::detail::rewrite(model, editor).size(); }).code() ==
          stemma::error_code::too_large);
    changes_nothing nothing;
    CHECK(stemma::detail::rewrite(model, nothing).size() == static_cast<std::int64_t>(goal));
}

} // namespace test::onnx_detail_rewrite
