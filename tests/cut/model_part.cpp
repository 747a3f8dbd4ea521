// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/model_part.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../scratch_folder.hpp"

#include <stemma/cut/model_cutter.hpp>

#include <string>
#include <vector>

namespace test::cut_model_part {

namespace {

stemma::model_part cut_attention(const stemma::attributed_model& opened,
                                 stemma::cut_options options) {
    stemma::id attention = 0;
    while (opened.modules().path(attention) != "encoder.layer.0.attention") {
        ++attention;
    }
    stemma::model_cutter cutter(opened.model(), std::move(options));
    return cutter.cut(opened, {.module = attention});
}

} // namespace

TEST_CASE("model_part: is a standalone model, the same in memory as on disk",
          "[onnx][model_part]") {
    stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"), {});
    const auto part = cut_attention(opened, {.sync = false});
    const auto bytes = part.bytes();
    const stemma::wire_model model(bytes, "part");
    CHECK(model.node_count() == part.size());
    CHECK(part.size() > 10);
    CHECK(part.is_exact());
    std::vector<std::string> names;
    for (auto value : model.graph(0).outputs) {
        names.emplace_back(model.value_name(value));
    }
    CHECK(std::vector<std::string>(part.outputs().begin(), part.outputs().end()) == names);
    CHECK_FALSE(part.inputs().empty());
    const test::scratch_folder folder;
    part.write(folder.file("part.onnx"));
    CHECK(test::read_bytes(folder.file("part.onnx")) == bytes);
    stemma::string_sink pieces;
    part.write(pieces);
    CHECK(pieces.text == bytes);
    CHECK(folder.file_count() == 1);
    part.write(folder.file("part.onnx")); // replaces
    CHECK(folder.file_count() == 1);
}

TEST_CASE("model_part: a custom policy names the boundary", "[onnx][model_part]") {
    stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"), {});
    const auto part = cut_attention(opened, {.policy = stemma::prefixed_names_cut{{}, "a::"}});
    for (const auto& names : {part.inputs(), part.outputs()}) {
        for (const auto& name : names) {
            CHECK(name.starts_with("a::"));
        }
    }
}

} // namespace test::cut_model_part
