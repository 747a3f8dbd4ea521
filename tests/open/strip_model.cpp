// SPDX-License-Identifier: Apache-2.0
#include <stemma/open/strip_model.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../scratch_folder.hpp"
#include "../tagged_bytes.hpp"

#include <stemma/onnx/wire_model.hpp>

namespace test::open_strip_model {

TEST_CASE("strip_model: restores bytes and files as before tagging") {
    const test::scratch_folder folder;
    for (const auto* fixture : {"mlp", "bert_micro", "control_flow"}) {
        const auto source = test::read_bytes(test::fixture(std::string(fixture) + "/model.onnx"));
        for (unsigned i = 1; i < test::carrier_sets; i += 7) {
            const auto tagged = test::tag(source, test::carriers_of(i));
            const stemma::wire_model model(tagged, "model");
            CHECK(stemma::strip_model(model) == source);
            const auto path = folder.make("tagged.onnx", tagged);
            const auto sizes =
                stemma::strip_model(path, folder.file("plain.onnx"), {.sync = false});
            CHECK(test::read_bytes(folder.file("plain.onnx")) == source);
            CHECK(sizes.before == tagged.size());
            CHECK(sizes.after == source.size());
        }
    }
}

TEST_CASE("strip_model: a file may replace itself") {
    const test::scratch_folder folder;
    const auto source = test::read_bytes(test::fixture("mlp/model.onnx"));
    const auto path = folder.make("model.onnx", test::tag(source, {}));
    static_cast<void>(stemma::strip_model(path, path, {.sync = false}));
    CHECK(test::read_bytes(path) == source);
}

} // namespace test::open_strip_model
