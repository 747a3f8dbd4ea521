// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/write_joined.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../random_model.hpp"
#include "../../scratch_folder.hpp"
#include "../../split_scene.hpp"

#include <stemma/error.hpp>
#include <stemma/io/detail/xxh64.hpp>

#include <string>

namespace test::cut_detail_write_joined {

namespace {

std::string joined(const stemma::detail::split_folder& folder) {
    std::string text;
    stemma::detail::follow_recipe(folder).for_each(
        [&](stemma::id file, std::uint64_t begin, std::uint64_t size) {
            text.append(stemma::detail::split_files::at(folder, file).bytes().substr(begin, size));
        },
        [&](std::string_view more) { text.append(more); });
    return text;
}

} // namespace

TEST_CASE("follow_recipe: restores every model byte for byte", "[onnx][join_model]") {
    for (const auto& file : test::model_files()) {
        INFO(file);
        test::split_scene scene(file);
        const test::scratch_folder folder;
        scene.write(scene.by_leaf(true), folder.path());
        const stemma::detail::split_folder opened(folder.path());
        CHECK_FALSE(opened.is_edited());
        const auto rope = stemma::detail::follow_recipe(opened);
        CHECK(rope.size() == scene.opened.file().bytes().size());
        CHECK(stemma::detail::hash_joined(rope, opened) ==
              stemma::detail::xxh64(scene.opened.file().bytes()));
        stemma::output_file output(folder.file("joined.onnx"));
        stemma::detail::write_joined(rope, opened, output);
        output.commit(false);
        CHECK(test::read_bytes(folder.file("joined.onnx")) == scene.opened.file().bytes());
    }
}

TEST_CASE("follow_recipe: restores models that no exporter would write", "[onnx][join_model]") {
    std::size_t tried = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        INFO(seed);
        const test::scratch_folder folder;
        const auto bytes = test::random_model(seed, true).bytes();
        const auto path = folder.make("model.onnx", bytes);
        try {
            test::split_scene scene(path);
            scene.write(scene.by_leaf(), folder.path());
        } catch (const stemma::error&) {
            continue; // it has a cycle, say
        }
        CHECK(joined(stemma::detail::split_folder(folder.path())) == bytes);
        ++tried;
    }
    CHECK(tried > 50);
}

TEST_CASE("follow_recipe: rejects a recipe that does not match the files", "[onnx][join_model]") {
    test::split_scene scene(test::fixture("mlp/model.onnx"));
    const test::scratch_folder folder;
    scene.write(scene.planner.divide(stemma::balanced_parts{2}), folder.path());
    const auto text = test::read_bytes(folder.file("split.json"));
    const auto recipe = text.find("\"recipe\"");
    const auto refused = [&](std::string_view piece) {
        const auto broken = text.substr(0, recipe) + "\"recipe\": [" + std::string(piece) + "]}";
        static_cast<void>(folder.make("split.json", broken));
        const stemma::detail::split_folder opened(folder.path());
        CHECK_THROWS_AS(stemma::detail::follow_recipe(opened), stemma::error);
    };
    refused(R"(["skeleton", 0, 1000000])");
    refused(R"(["skeleton", 18446744073709551615, 2])");
    refused(R"(["nodes", 1000, 1])");
    refused(R"(["nodes", 0, 1000])");
    refused(R"(["node", 4294967296])");
    refused(R"(["initializer", "nothing", 0, 1])");
    refused(R"(["weights", 0, 1000000])");
}

} // namespace test::cut_detail_write_joined
