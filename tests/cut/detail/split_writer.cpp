// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/split_writer.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../scratch_folder.hpp"
#include "../../split_scene.hpp"

#include <stemma/io/detail/xxh64.hpp>

#include <set>
#include <string>

namespace test::cut_detail_split_writer {

TEST_CASE("split_writer: every part is a model that names its origin", "[onnx][write_split]") {
    test::split_scene scene(test::fixture("bert_micro/model.onnx"));
    const test::scratch_folder folder;
    const auto parts = scene.planner.divide(stemma::balanced_parts{3});
    const auto manifest = scene.write(parts, folder.path());
    CHECK(manifest.source.hash ==
          stemma::detail::to_hex(stemma::detail::xxh64(scene.opened.file().bytes())));
    REQUIRE(manifest.parts.size() == 3);
    std::size_t nodes = 0;
    for (const auto& part : manifest.parts) {
        const stemma::mapped_file file(folder.file(part.at.file));
        CHECK(stemma::detail::to_hex(stemma::detail::xxh64(file.bytes())) == part.at.hash);
        const stemma::wire_model model(file.bytes(), file.path());
        CHECK(model.node_count() == part.nodes.size() + part.clones.size());
        CHECK(stemma::detail::find_model_metadata(model, stemma::detail::split_key).has_value());
        nodes += part.nodes.size();
    }
    CHECK(nodes == scene.model().node_count());
    CHECK(folder.file_count() == 6); // with weights, skeleton and manifest
}

TEST_CASE("split_writer: the manifest lists the tensors between parts", "[onnx][write_split]") {
    test::split_scene scene(test::fixture("bert_micro/model.onnx"));
    const test::scratch_folder folder;
    const auto parts = scene.planner.divide(stemma::balanced_parts{4});
    const auto manifest = scene.write(parts, folder.path());
    std::set<std::string> names;
    std::size_t outputs = 0;
    for (const auto& tensor : manifest.tensors) {
        CHECK(names.insert(tensor.name).second);
        CHECK_FALSE(tensor.type.empty());
        CHECK((tensor.output || !tensor.to.empty()));
        for (auto to : tensor.to) {
            CHECK((tensor.from == stemma::no_id || tensor.from < to));
        }
        outputs += tensor.output ? 1U : 0U;
    }
    CHECK(outputs == scene.model().graph(0).outputs.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
        for (auto value : parts[p].plan.inputs) {
            CHECK(names.count(std::string(scene.model().value_name(value))) == 1);
        }
    }
}

} // namespace test::cut_detail_split_writer
