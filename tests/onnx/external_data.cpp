// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/external_data.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../data_scene.hpp"
#include "../far_tensor.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace test::onnx_external_data {

using stemma::detail::is_inside_folder;
using texts = std::vector<std::string>;

TEST_CASE("is_inside_folder: rejects locations that climb out or are absolute") {
    for (const auto* location : {"w.bin", "a/w.bin", "./w.bin", "a..b", "..."}) {
        CHECK(is_inside_folder(location));
    }
    for (const auto* location : {"", "/w.bin", "../w.bin", "a/../../w.bin", "a/..", ".."}) {
        CHECK_FALSE(is_inside_folder(location));
    }
    CHECK_FALSE(is_inside_folder(std::string_view("w\0.bin", 6)));
}

TEST_CASE("external_files: lists each once, sorted, without data inside the file") {
    const auto bytes = test::model_at({"b.bin", "a.bin", "b.bin"});
    CHECK(stemma::external_files(stemma::wire_model(bytes)) == texts{"a.bin", "b.bin"});
    const auto none = test::model_at({});
    CHECK(stemma::external_files(stemma::wire_model(none)).empty());
}

TEST_CASE("files_left_behind: lists missing files only for another folder") {
    const test::data_scene s({"b.bin", "a.bin", "b.bin"});
    const stemma::wire_model model(s.bytes, s.from + "/model.onnx");
    CHECK(stemma::files_left_behind(model, s.from + "/other.onnx").empty());
    CHECK(stemma::files_left_behind(model, s.from + "/../from/other.onnx").empty());
    CHECK(stemma::files_left_behind(model, s.from + "/./other.onnx").empty());
    CHECK(stemma::files_left_behind(model, s.to + "/model.onnx") == texts{"a.bin", "b.bin"});
    s.make(s.from + "/a.bin", "data");
    std::filesystem::create_hard_link(s.from + "/a.bin", s.to + "/a.bin");
    CHECK(stemma::files_left_behind(model, s.to + "/model.onnx") == texts{"b.bin"});
}

TEST_CASE("external_files: lists those of attributes and bodies too") {
    const test::built_model model(test::far_model());
    CHECK(stemma::external_files(model) == texts{"b.bin", "c.bin", "w.bin"});
    CHECK(stemma::detail::nested_external_files(model) == texts{"b.bin", "c.bin"});
}

TEST_CASE("external_files: lists those of sparse initializers, functions and lists of tensors") {
    const auto node_with = [](unsigned field, const test::message& content) {
        return test::node("Op", {}, {}).inner(5, test::message().inner(field, content));
    };
    const auto sparse = test::message()
                            .inner(1, test::far_tensor("v", "values.bin"))
                            .inner(2, test::far_tensor("i", "indices.bin"));
    auto graph = test::graph({node_with(10, test::far_tensor("l", "list.bin")),
                              node_with(22, sparse), test::node("Op", {}, {})});
    graph.inner(15, test::message()
                        .inner(1, test::far_tensor("s", "sparse_values.bin"))
                        .inner(2, test::far_tensor("i", "sparse_indices.bin")));
    const auto inner =
        node_with(6, test::graph({node_with(5, test::far_tensor("b", "body_of_function.bin"))}));
    auto model = test::model(graph);
    model.inner(25, test::message()
                        .text(1, "f")
                        .inner(7, inner)
                        .inner(7, node_with(5, test::far_tensor("f", "function.bin")))
                        .inner(11, test::message().inner(5, test::far_tensor("d", "default.bin"))));
    const auto bytes = model.bytes();
    const texts all{"body_of_function.bin", "default.bin", "function.bin",
                    "indices.bin",          "list.bin",    "sparse_indices.bin",
                    "sparse_values.bin",    "values.bin"};
    CHECK(stemma::external_files(stemma::wire_model(bytes)) == all);
    CHECK(stemma::detail::nested_external_files(stemma::wire_model(bytes)) == all);
}

} // namespace test::onnx_external_data
