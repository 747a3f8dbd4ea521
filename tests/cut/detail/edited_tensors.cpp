// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/edited_tensors.hpp>

#include "../../catch.hpp"
#include "../../edited_split.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>

#include <string>
#include <string_view>

namespace test::cut_detail_edited_tensors {

namespace {

/// Returns: an initializer, without the header of the field of the graph.
std::string text_of(const stemma::detail::edited_tensors& tensors, std::string_view name,
                    const stemma::detail::split_folder& folder) {
    stemma::detail::message_tree graph;
    tensors.append(name, graph);
    std::string text;
    graph.for_each(
        [&](stemma::id file, std::uint64_t begin, std::uint64_t size) {
            text.append(stemma::detail::split_files::at(folder, file).bytes().substr(begin, size));
        },
        [&](std::string_view more) { text.append(more); });
    stemma::detail::wire_reader fields(text.data(), 0, static_cast<std::uint32_t>(text.size()),
                                       "graph");
    stemma::detail::wire_field field;
    REQUIRE(fields.next(field));
    CHECK(field.is_bytes(5));
    return std::string(fields.text(field));
}

} // namespace

TEST_CASE("edited_tensors: unchanged tensors stay", "[onnx][edited_tensors]") {
    const test::edited_split split;
    const auto folder = split.open();
    const stemma::detail::edited_tensors tensors(*folder);
    REQUIRE(tensors.contains("w"));
    CHECK_FALSE(tensors.contains("x"));
    CHECK(tensors.added().empty());
    CHECK(text_of(tensors, "w", *folder) == test::tensor("w", {}, "wwww").bytes());
    CHECK(tensors.header("w").data_type == 1);
}

TEST_CASE("edited_tensors: a weight changed in all parts is changed", "[onnx][edited_tensors]") {
    test::edited_split split;
    split.replace(0, "wwww", "WWWW").replace(1, "wwww", "WWWW");
    const auto folder = split.open();
    const stemma::detail::edited_tensors tensors(*folder);
    CHECK(text_of(tensors, "w", *folder) == test::tensor("w", {}, "WWWW").bytes());
}

TEST_CASE("edited_tensors: a shared weight cannot be changed in one part only",
          "[onnx][edited_tensors]") {
    for (int p : {0, 1}) {
        const auto folder = test::edited_split().replace(p, "wwww", "WWWW").open();
        CHECK_THROWS_AS(stemma::detail::edited_tensors(*folder), stemma::error);
    }
    const auto folder =
        test::edited_split().replace(0, "wwww", "WWWW").replace(1, "wwww", "VVVV").open();
    CHECK_THROWS_AS(stemma::detail::edited_tensors(*folder), stemma::error);
}

TEST_CASE("edited_tensors: data are the same however they are stored", "[onnx][edited_tensors]") {
    const auto head = [] { return test::message().number(2, 1).text(8, "w"); };
    for (const auto& same :
         {head().text(9, "wwww").number(14, 0), head().text(4, "wwww"), head().fixed32(4, "wwww"),
          test::message().text(9, "wwww").text(8, "w").number(2, 1)}) {
        const auto folder = test::edited_split().replace_tensor(1, same).open();
        const stemma::detail::edited_tensors tensors(*folder);
        CHECK(text_of(tensors, "w", *folder) == test::tensor("w", {}, "wwww").bytes());
        CHECK(tensors.keeps_type("w"));
    }
    const auto refused = [&](const test::message& other) {
        const auto folder = test::edited_split().replace_tensor(1, other).open();
        CHECK_THROWS_AS(stemma::detail::edited_tensors(*folder), stemma::error);
        test::edited_split both;
        const auto changed = both.replace_tensor(0, other).replace_tensor(1, other).open();
        CHECK_FALSE(stemma::detail::edited_tensors(*changed).keeps_type("w"));
    };
    refused(test::tensor("w", {1}, "wwww"));
    refused(test::message().number(2, 6).text(8, "w").text(9, "wwww"));
}

TEST_CASE("edited_tensors: a doc_string or metadata changed in one part is changed",
          "[onnx][edited_tensors]") {
    const auto with = [](const std::string& doc) {
        return test::tensor("w", {}, "wwww").text(12, doc).inner(16, test::entry("key", doc));
    };
    test::edited_split split;
    split.replace_tensor(1, with("mine"));
    const auto folder = split.open();
    const stemma::detail::edited_tensors tensors(*folder);
    CHECK(text_of(tensors, "w", *folder) == with("mine").bytes());
    split.replace_tensor(0, with("other"));
    CHECK_THROWS_AS(stemma::detail::edited_tensors(*split.open()), stemma::error);
}

TEST_CASE("edited_tensors: new ones are added, once", "[onnx][edited_tensors]") {
    const auto more = test::message().inner(5, test::tensor("new", {1}, "1234"));
    test::edited_split split;
    split.add_to_graph(0, more).add_to_graph(1, more);
    const auto folder = split.open();
    const stemma::detail::edited_tensors tensors(*folder);
    CHECK(tensors.added() == std::vector<std::string>{"new"});
    CHECK(text_of(tensors, "new", *folder) == test::tensor("new", {1}, "1234").bytes());

    split.add_to_graph(1, test::message().inner(5, test::tensor("other", {1}, "1234")));
    split.add_to_graph(0, test::message().inner(5, test::tensor("other", {1}, "5678")));
    const auto contradicting = split.open();
    CHECK_THROWS_AS(stemma::detail::edited_tensors(*contradicting), stemma::error);
}

TEST_CASE("edited_tensors: data in a file of the folder have the length of their type",
          "[onnx][edited_tensors]") {
    test::edited_split split;
    static_cast<void>(split.folder().make("own.bin", "....WWWWtail"));
    const auto other = test::message()
                           .number(2, 1)
                           .text(8, "w")
                           .inner(13, test::entry("location", "own.bin"))
                           .inner(13, test::entry("offset", "4"))
                           .number(14, 1);
    split.replace_tensor(0, other).replace_tensor(1, other);
    const auto folder = split.open();
    const stemma::detail::edited_tensors tensors(*folder);
    CHECK(text_of(tensors, "w", *folder) == test::tensor("w", {}, "WWWW").bytes());
}

TEST_CASE("edited_tensors: a new one must not have the name of another one",
          "[onnx][edited_tensors]") {
    const test::scratch_folder scratch;
    auto graph = test::graph(
        {test::node("Add", {"x", "w"}, {"a"}, "n1"), test::node("Add", {"a", "v"}, {"y"}, "n2")},
        {"x"}, {"y"});
    graph.inner(5, test::tensor("w", {}, "wwww")).inner(5, test::tensor("v", {}, "vvvv"));
    test::split_scene scene(scratch.make("model.onnx", test::model(graph).bytes()));
    scene.write(scene.planner.divide(stemma::balanced_parts{2}), scratch.path());
    const auto second = test::read_bytes(scratch.file("1.onnx"));
    const auto add = [&](const std::string& data) {
        static_cast<void>(scratch.make(
            "1.onnx", second + test::message()
                                   .inner(7, test::message().inner(5, test::tensor("w", {}, data)))
                                   .bytes()));
        const stemma::detail::split_folder folder(scratch.path());
        const stemma::detail::edited_tensors tensors(folder);
    };
    CHECK_NOTHROW(add("wwww"));
    CHECK_THROWS_AS(add("WWWW"), stemma::error);
}

} // namespace test::cut_detail_edited_tensors
