// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/split_folder.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../scratch_folder.hpp"
#include "../../split_scene.hpp"

#include <stemma/error.hpp>

#include <string>

namespace test::cut_detail_split_folder {

namespace {

struct scene {
    test::scratch_folder folder;

    scene() {
        test::split_scene split(test::fixture("bert_micro/model.onnx"));
        split.write(split.planner.divide(stemma::balanced_parts{3}), folder.path());
    }

    /// Replaces a text in the manifest.
    void edit(const std::string& from, const std::string& to) const {
        auto text = test::read_bytes(folder.file("split.json"));
        const auto at = text.find(from);
        REQUIRE(at != std::string::npos);
        static_cast<void>(folder.make("split.json", text.replace(at, from.size(), to)));
    }
};

} // namespace

TEST_CASE("split_folder: locates every node of the source", "[onnx][split_folder]") {
    const scene s;
    const stemma::detail::split_folder folder(s.folder.path());
    const stemma::mapped_file file(test::fixture("bert_micro/model.onnx"));
    const stemma::wire_model source(file.bytes(), file.path());
    REQUIRE(folder.node_count() == source.node_count());
    for (stemma::id node = 0; node < source.node_count(); ++node) {
        const auto here = folder.message(node);
        const auto there = source.message(node);
        CHECK(folder.parts()[folder.home(node)].file->bytes().substr(here.begin, here.size) ==
              source.bytes().substr(there.begin, there.size));
    }
    CHECK_FALSE(folder.is_edited());
    CHECK_FALSE(folder.weights_edited());
}

TEST_CASE("split_folder: detects changed files", "[onnx][split_folder]") {
    const scene s;
    auto bytes = test::read_bytes(s.folder.file("1.onnx"));
    static_cast<void>(s.folder.make("1.onnx", bytes + std::string("\x12\x01x", 3)));
    const stemma::detail::split_folder folder(s.folder.path());
    CHECK(folder.is_edited());
    CHECK(folder.parts()[1].edited);
    CHECK_FALSE(folder.parts()[0].edited);
}

TEST_CASE("split_folder: rejects a manifest that contradicts itself or leaves the folder",
          "[onnx][split_folder]") {
    const auto refused = [](const std::string& from, const std::string& to) {
        const scene s;
        s.edit(from, to);
        CHECK_THROWS_AS(stemma::detail::split_folder(s.folder.path()), stemma::error);
    };
    refused("\"0.onnx\"", "\"../0.onnx\"");
    refused("\"0.onnx\"", "\"/etc/passwd\"");
    refused("\"weights.bin\"", "\"../weights.bin\"");
    refused("\"0.onnx\"", "\"7.onnx\"");
    refused("\"0.onnx\"", "\"1.onnx\"");
    refused("\"nodes\": [0, ", "\"nodes\": [");
    refused("\"nodes\": [0, ", "\"nodes\": [0, 0, ");
    refused("\"nodes\": [0, ", "\"nodes\": [0, 4000000000, ");
    CHECK_THROWS_AS(stemma::detail::split_folder(test::fixture("bert_micro")), stemma::error);
}

} // namespace test::cut_detail_split_folder
