// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/split_manifest.hpp>

#include "../catch.hpp"
#include "../refusal.hpp"

#include <stemma/error.hpp>
#include <stemma/io/json_writer.hpp>

#include <string>

namespace test::cut_split_manifest {

namespace {

using kind = stemma::split_manifest::piece::kind;

stemma::split_manifest example() {
    stemma::split_manifest manifest;
    manifest.source = {"model \"1\".onnx", "00ff"};
    manifest.skeleton = {"skeleton.onnx", "11ff"};
    manifest.weights = {"weights.bin", "22ff"};
    stemma::split_manifest::part_entry part;
    part.at = {"0.onnx", "33ff"};
    part.module = "encoder.0";
    part.tag = "/Net/encoder";
    part.level = 2;
    part.cost = 17;
    part.nodes = {0, 2, 5};
    part.clones = {1};
    part.order = {0, 2, 1, 5};
    part.cloned_values = {"k"};
    part.initializers = {"w"};
    manifest.parts.push_back(part);
    manifest.tensors.push_back(
        {"x", "float32", {std::int64_t{1}, "n", std::int64_t{-1}}, stemma::no_id, {0}, false});
    manifest.tensors.push_back({"y", "float32", {}, 0, {}, true});
    manifest.order = {0};
    manifest.recipe = {{kind::skeleton, 0, 10, {}}, {kind::bytes, 0, 0, std::string("\0\xff", 2)},
                       {kind::nodes, 0, 3, {}},     {kind::node, 3, 1, {}},
                       {kind::weights, 64, 4, {}},  {kind::initializer, 2, 4, "w"}};
    return manifest;
}

std::string text_of(const stemma::split_manifest& manifest) {
    stemma::string_sink sink;
    stemma::write_json(sink, manifest);
    return sink.text;
}

} // namespace

TEST_CASE("split_manifest: reads what it writes", "[onnx][split_manifest]") {
    const auto manifest = example();
    const auto read = stemma::detail::read_split_manifest(text_of(manifest), "split.json");
    CHECK(read.source.file == manifest.source.file);
    CHECK(read.source.hash == manifest.source.hash);
    CHECK(read.skeleton.file == manifest.skeleton.file);
    CHECK(read.weights.hash == manifest.weights.hash);
    REQUIRE(read.parts.size() == 1);
    CHECK(read.parts[0].at.file == "0.onnx");
    CHECK(read.parts[0].module == "encoder.0");
    CHECK(read.parts[0].nodes == manifest.parts[0].nodes);
    CHECK(read.parts[0].clones == manifest.parts[0].clones);
    CHECK(read.parts[0].order == manifest.parts[0].order);
    CHECK(read.parts[0].cloned_values == manifest.parts[0].cloned_values);
    CHECK(read.parts[0].initializers == manifest.parts[0].initializers);
    CHECK(read.order == manifest.order);
    REQUIRE(read.recipe.size() == manifest.recipe.size());
    for (std::size_t i = 0; i < read.recipe.size(); ++i) {
        CHECK(read.recipe[i].from == manifest.recipe[i].from);
        CHECK(read.recipe[i].first == manifest.recipe[i].first);
        CHECK(read.recipe[i].count == manifest.recipe[i].count);
        CHECK(read.recipe[i].text == manifest.recipe[i].text);
    }
}

TEST_CASE("split_manifest: a model without weights has no weight file", "[onnx][split_manifest]") {
    auto manifest = example();
    manifest.weights = {};
    CHECK(text_of(manifest).find("\"weights\": null") != std::string::npos);
    CHECK(
        stemma::detail::read_split_manifest(text_of(manifest), "split.json").weights.file.empty());
}

TEST_CASE("split_manifest: explains what is wrong with other files", "[onnx][split_manifest]") {
    const auto refused = [](const std::string& text) {
        const auto e =
            test::refusal([&] { return stemma::detail::read_split_manifest(text, "split.json"); });
        return std::string(e.what()).find("split.json") != std::string::npos;
    };
    CHECK(refused(""));
    CHECK(refused("{}"));
    CHECK(refused("[]"));
    CHECK(refused(R"({"schema": "stemma.split/2"})"));
    const auto whole = text_of(example());
    for (std::size_t size = 0; size + 2 < whole.size(); size += 7) {
        CHECK(refused(whole.substr(0, size)));
    }
    const auto with = [&](const std::string& from, const std::string& to) {
        auto text = whole;
        return text.replace(text.find(from), from.size(), to);
    };
    CHECK(refused(with("[\"skeleton\", 0, 10]", "[\"elsewhere\", 0, 10]")));
    CHECK(refused(with("[\"skeleton\", 0, 10]", "[\"skeleton\"]")));
    CHECK(refused(with("[\"skeleton\", 0, 10]", "[]")));
    CHECK(refused(with("00ff\"", "00ff\", \"x\": [")));
    CHECK(refused(with("\"nodes\": [0, 2, 5]", "\"nodes\": [\"a\"]")));
    CHECK(refused(with("\"nodes\": [0, 2, 5]", "\"other\": []")));
    CHECK(refused(with("[\"bytes\", \"00ff\"]", "[\"bytes\", \"00fg\"]")));
}

} // namespace test::cut_split_manifest
