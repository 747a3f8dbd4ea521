// SPDX-License-Identifier: Apache-2.0
#include <stemma/open/detail/untagged_model.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../scratch_folder.hpp"

#include <stemma/io/detail/base64.hpp>
#include <stemma/open/attributed_model.hpp>

#include <string>

namespace test::open_detail_untagged_model {

namespace {

/// Returns: the bytes of a model with an entry of ours in its metadata.
std::string tagged_bytes(const std::string& path) {
    // metadata_props { key: "pkg.stemma.model" value: "{}" }
    return test::read_bytes(path) + std::string("\x72\x16\x0a\x10pkg.stemma.model\x12\x02{}", 24);
}

} // namespace

TEST_CASE("untagged_model: an untagged model is the file itself", "[onnx][untagged_model]") {
    const auto path = test::fixture("mlp/model.onnx");
    const stemma::mapped_file file(path);
    const stemma::wire_model model(file.bytes(), path);
    const stemma::detail::untagged_model untagged(file, model, "");
    CHECK_FALSE(untagged.was_tagged());
    CHECK(&untagged.file() == &file);
    CHECK(&untagged.model() == &model);
    CHECK(untagged.tags().empty());
}

TEST_CASE("untagged_model: a tagged model is copied without tags, to a file or to memory",
          "[onnx][untagged_model]") {
    const auto path = test::fixture("mlp/model.onnx");
    const test::scratch_folder folder;
    const auto tagged = folder.make("tagged.onnx", tagged_bytes(path));
    const stemma::mapped_file file(tagged);
    const stemma::wire_model model(file.bytes(), tagged);
    for (const auto& output : {std::string(), folder.file("output.onnx")}) {
        {
            const stemma::detail::untagged_model untagged(file, model, output);
            CHECK(untagged.was_tagged());
            CHECK(untagged.file().bytes() == test::read_bytes(path));
            CHECK(untagged.model().file() == tagged);
            CHECK_FALSE(untagged.tags().empty());
            CHECK(folder.file_count() == (output.empty() ? 1 : 2));
        }
        CHECK(folder.file_count() == 1);
    }
}

} // namespace test::open_detail_untagged_model
