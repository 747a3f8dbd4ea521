// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/join_folder.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../scratch_folder.hpp"

#include <stemma/cut/split_to_folder.hpp>
#include <stemma/error.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace test::cut_join_folder {

TEST_CASE("join_folder: lists changed files", "[onnx][join_folder]") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    const test::scratch_folder folder;
    const auto manifest = stemma::split_to_folder(opened, folder.path(), {.sync = false});
    const auto whole = folder.file("whole.onnx");
    auto made = stemma::join_folder(folder.path(), whole, false);
    CHECK(made.source == "model.onnx");
    CHECK(made.edited.empty());
    CHECK(made.missing.empty());
    CHECK(test::read_bytes(whole) == test::read_bytes(opened.file().path()));
    // metadata_props { key: "a" }
    const auto& edited = manifest.parts[1].at.file;
    const auto text = test::read_bytes(folder.file(edited)) + "\x72\x03\x0a\x01"
                                                              "a";
    static_cast<void>(folder.make(edited, text));
    made = stemma::join_folder(folder.path(), whole, false);
    CHECK(made.edited == std::vector<std::string>{edited});
    CHECK_THROWS_AS(stemma::join_folder(folder.file("nothing"), whole, false), stemma::error);
}

} // namespace test::cut_join_folder
