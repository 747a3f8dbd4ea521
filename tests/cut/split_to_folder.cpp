// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/split_to_folder.hpp>

#include "../catch.hpp"
#include "../far_tensor.hpp"
#include "../model_files.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"

#include <stemma/cut/join_folder.hpp>
#include <stemma/error.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace test::cut_split_to_folder {

namespace {

/// Answers nonsense.
struct nowhere {
    using policy_category = stemma::partition_category;

    stemma::partition_plan plan;

    template <class Graph>
    [[nodiscard]] stemma::partition_plan
    partition(const stemma::partition_problem<Graph>& problem) const {
        auto changed = plan;
        changed.part_of.resize(changed.part_of.empty() ? 0 : problem.order.size(),
                               changed.part_of.empty() ? 0 : changed.part_of.front());
        return changed;
    }
};

struct endless {
    using policy_category = stemma::cost_category;
    [[nodiscard]] std::uint64_t cost(const stemma::operator_load&) const {
        return std::uint64_t{1} << 62U;
    }
};

void refused(const stemma::attributed_model& opened, const stemma::split_options& options,
             const std::string& word) {
    const test::scratch_folder folder;
    const auto e =
        test::refusal([&] { return stemma::split_to_folder(opened, folder.path(), options); });
    CHECK(e.code() == stemma::error_code::refused);
    CHECK(std::string(e.what()).find(word) != std::string::npos);
    CHECK(folder.file_count() == 0);
}

} // namespace

TEST_CASE("split_to_folder: any partition joins to the same bytes", "[onnx][split_to_folder]") {
    stemma::attributed_model opened(test::fixture("unet_tiny/model.onnx"), {});
    const stemma::any_policy<stemma::partition_category, stemma::operator_graph> policies[] = {
        stemma::balanced_parts{3}, stemma::parts_by_depth{1}, stemma::parts_by_level{4},
        stemma::parts_by_modules{{1}},
        stemma::parts_by_rule{2, [](stemma::id v) { return v % 2; }}};
    for (const auto& policy : policies) {
        const test::scratch_folder folder;
        stemma::split_options options{.partition = policy, .merge = true, .sync = false};
        const auto manifest = stemma::split_to_folder(opened, folder.path(), options);
        CHECK(manifest.parts.size() > 1);
        const auto joined = stemma::join_folder(folder.path(), folder.file("whole.onnx"), false);
        CHECK(joined.edited.empty());
        CHECK(test::read_bytes(folder.file("whole.onnx")) ==
              test::read_bytes(opened.file().path()));
    }
}

TEST_CASE("split_to_folder: an invalid plan is an error", "[onnx][split_to_folder]") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    refused(opened, {.partition = nowhere{{3, {}, {}, {}}}}, "not every vertex");
    refused(opened, {.partition = nowhere{{3, {3}, {}, {}}}}, "nonexistent part");
    refused(opened, {.partition = nowhere{{3, {stemma::no_id}, {}, {}}}}, "nonexistent part");
    refused(opened, {.partition = nowhere{{3, {0}, {0}, {}}}}, "not every part has a module");
    refused(opened, {.partition = nowhere{{1, {0}, {stemma::no_id}, {}}}}, "nonexistent module");
    refused(opened, {.partition = nowhere{{1, {0}, {}, "not today"}}}, "not today");
    refused(opened, {.partition = stemma::balanced_parts{0}}, "into 0 parts");
    refused(opened, {.cost = endless{}}, "2^63");
}

TEST_CASE("split_to_folder: replaces existing files only with force", "[onnx][split_to_folder]") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    const test::scratch_folder folder;
    stemma::split_options options{.sync = false};
    stemma::split_to_folder(opened, folder.path(), options);
    CHECK_THROWS_AS(stemma::split_to_folder(opened, folder.path(), options), stemma::error);
    options.force = true;
    CHECK_NOTHROW(stemma::split_to_folder(opened, folder.path(), options));
}

TEST_CASE("split_to_folder: parts replace neither their model nor spared files",
          "[onnx][split_to_folder]") {
    const test::scratch_folder folder;
    stemma::split_options options{
        .partition = stemma::parts_by_depth{1}, .force = true, .sync = false};
    const auto content = test::read_bytes(test::fixture("mlp/model.onnx"));
    std::string first; // how its first part is called
    {
        const stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
        const test::scratch_folder parts;
        first = stemma::split_to_folder(opened, parts.path(), options).parts.front().at.file;
    }
    const auto refused = [&](const std::string& source) {
        const stemma::attributed_model opened(source, {});
        CHECK(test::refusal([&] {
                  return stemma::split_to_folder(opened, folder.path(), options);
              }).code() == stemma::error_code::refused);
        CHECK(test::read_bytes(source) == content);
    };
    const auto whole = folder.make(first, content);
    refused(whole);
    options.spared = {whole};
    refused(folder.make("other.onnx", content));
    CHECK(test::read_bytes(whole) == content);
    CHECK(folder.file_count() == 2);
}

TEST_CASE("split_to_folder: parts have the external data of bodies and attributes beside them",
          "[onnx][split_to_folder]") {
    const test::scratch_folder folder;
    stemma::attributed_model opened(test::write_far_model(folder), {});
    const auto parts = folder.file("parts");
    stemma::split_to_folder(opened, parts, {.sync = false});
    CHECK(test::read_bytes(parts + "/b.bin") == "b.bin");
    CHECK(test::read_bytes(parts + "/c.bin") == "c.bin");
    CHECK_FALSE(std::filesystem::exists(parts + "/w.bin"));
    const auto joined = stemma::join_folder(parts, folder.file("parts/whole.onnx"), false);
    CHECK(joined.missing == std::vector<std::string>{"w.bin"});
    CHECK(test::read_bytes(parts + "/whole.onnx") == test::read_bytes(opened.file().path()));
}

TEST_CASE("split_to_folder: what fails leaves no new folder, and the split before it",
          "[onnx][split_to_folder]") {
    const test::scratch_folder folder;
    stemma::attributed_model before(test::fixture("mlp/model.onnx"), {});
    stemma::attributed_model lacks(folder.make("model.onnx", test::far_model().bytes()), {});
    const auto parts = folder.file("parts");
    CHECK_THROWS_AS(stemma::split_to_folder(lacks, parts, {.sync = false}), stemma::error);
    CHECK_FALSE(std::filesystem::exists(parts));
    const auto manifest = stemma::split_to_folder(before, parts, {.sync = false});
    CHECK_THROWS_AS(stemma::split_to_folder(lacks, parts, {.force = true, .sync = false}),
                    stemma::error);
    CHECK(stemma::join_folder(parts, folder.file("whole.onnx"), false).edited.empty());
    // A folder in the way of the last part is noticed before the first one is written.
    const auto blocked = folder.file("blocked");
    std::filesystem::create_directories(blocked + "/" + manifest.parts.back().at.file);
    CHECK_THROWS_AS(stemma::split_to_folder(before, blocked, {.force = true, .sync = false}),
                    stemma::error);
    CHECK(std::distance(std::filesystem::directory_iterator(blocked),
                        std::filesystem::directory_iterator()) == 1);
}

} // namespace test::cut_split_to_folder
