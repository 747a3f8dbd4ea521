// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/split_planner.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../split_scene.hpp"
#include "../wire_builder.hpp"

#include <stemma/error.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace test::cut_split_planner {

namespace {

using stemma::id;
using stemma::no_id;

/// Every node is in exactly one part, copies are of other parts, and each part reads from parts
/// before it only.
void check(const test::split_scene& scene, const std::vector<stemma::split_part>& parts) {
    const auto& model = scene.model();
    std::set<id> planned;
    std::set<id> produced;
    for (const auto& part : parts) {
        CHECK(part.plan.refusal == stemma::cut_refusal::none);
        CHECK(std::is_sorted(part.nodes.begin(), part.nodes.end()));
        for (auto node : part.nodes) {
            CHECK(model.graph_of(node) == 0);
            CHECK(planned.insert(node).second);
        }
        for (auto node : part.clones) {
            CHECK_FALSE(std::binary_search(part.nodes.begin(), part.nodes.end(), node));
        }
        auto together = part.nodes;
        together.insert(together.end(), part.clones.begin(), part.clones.end());
        std::sort(together.begin(), together.end());
        auto written = part.plan.nodes;
        std::sort(written.begin(), written.end());
        CHECK(written == together);
        for (auto value : part.plan.inputs) {
            CHECK((model.producer(value) == no_id || produced.count(value) == 1));
        }
        CHECK_FALSE(part.plan.outputs.empty());
        produced.insert(part.plan.outputs.begin(), part.plan.outputs.end());
    }
    std::size_t nodes = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        nodes += model.graph_of(node) == 0 ? 1U : 0U;
    }
    CHECK(planned.size() == nodes);
    for (auto value : model.graph(0).outputs) {
        CHECK((value == no_id || model.producer(value) == no_id || produced.count(value) == 1));
    }
}

} // namespace

TEST_CASE("split_planner: parts of every model contain every node once and run in sequence",
          "[onnx][split_plan]") {
    for (const auto& file : test::model_files()) {
        INFO(file);
        test::split_scene scene(file);
        check(scene, scene.by_leaf());
        check(scene, scene.by_leaf(true));
        check(scene, scene.planner.divide(stemma::balanced_parts{2}));
    }
}

TEST_CASE("split_planner: balanced parts: none above the mean plus the most expensive node",
          "[onnx][split_plan]") {
    for (const std::string name : {"bert_micro", "unet_tiny", "two_tower", "gpt2_tiny"}) {
        test::split_scene scene(test::fixture(name + "/model.onnx"));
        stemma::split_planner<stemma::cost_in_parameters> planner(
            scene.model(), scene.cuts, scene.opened.modules().index(),
            scene.opened.tags().attributions, scene.loads);
        std::uint64_t total = 0;
        std::uint64_t heaviest = 0; // no constant of these models reads a weight
        for (id node = 0; node < scene.model().node_count(); ++node) {
            if (scene.model().graph_of(node) == 0) {
                total += scene.loads[node].parameters;
                heaviest = std::max(heaviest, scene.loads[node].parameters);
            }
        }
        REQUIRE(total > 0);
        for (std::size_t count : {1U, 2U, 3U, 5U, 9U}) {
            const auto parts = planner.divide(stemma::balanced_parts{count});
            REQUIRE(parts.size() == count);
            check(scene, parts);
            std::uint64_t sum = 0;
            for (const auto& part : parts) {
                sum += part.cost;
                CHECK(part.cost * count <= total + heaviest * count);
            }
            CHECK(sum == total);
        }
    }
}

TEST_CASE("split_planner: more parts than nodes are refused", "[onnx][split_plan]") {
    test::split_scene scene(test::fixture("mlp/model.onnx"));
    CHECK_THROWS_AS(scene.planner.divide(stemma::balanced_parts{1000}), stemma::error);
    CHECK_THROWS_AS(scene.planner.divide(stemma::balanced_parts{0}), stemma::error);
}

TEST_CASE("split_planner: a custom cost decides", "[onnx][split_plan]") {
    test::split_scene scene(test::fixture("bert_micro/model.onnx"));
    stemma::split_planner<stemma::cost_in_operators> planner(
        scene.model(), scene.cuts, scene.opened.modules().index(), scene.opened.tags().attributions,
        scene.loads);
    const auto parts = planner.divide(stemma::balanced_parts{4});
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t most = 0;
    for (const auto& part : parts) {
        least = std::min(least, part.cost);
        most = std::max(most, part.cost);
    }
    CHECK(most <= least + least / 2);
    stemma::split_planner counting(scene.model(), scene.cuts, scene.opened.modules().index(),
                                   scene.opened.tags().attributions, scene.loads,
                                   [](auto&& load) { return load.operators; });
    const auto same = counting.divide(stemma::balanced_parts{4});
    REQUIRE(same.size() == parts.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
        CHECK(same[p].nodes == parts[p].nodes);
    }
}

TEST_CASE("split_planner: initializers that the model returns are outputs of one part",
          "[onnx][split_plan]") {
    const test::scratch_folder folder;
    auto graph = test::graph({test::node("Add", {"x", "w"}, {"a"}, "n1"),
                              test::node("Neg", {"a"}, {"b"}, "n2"),
                              test::node("Mul", {"b", "w"}, {"y"}, "n3")},
                             {"x"}, {"y", "w", "unread", "w"});
    graph.inner(5, test::tensor("w", {}, "wwww")).inner(5, test::tensor("unread", {}, "uuuu"));
    test::split_scene scene(folder.make("model.onnx", test::model(graph).bytes()));
    const auto parts = scene.planner.divide(stemma::balanced_parts{3});
    REQUIRE(parts.size() == 3);
    check(scene, parts);
    test::names returned;
    for (const auto& part : parts) {
        for (auto value : part.plan.outputs) {
            if (scene.model().is_initializer(value)) {
                returned.emplace_back(scene.model().value_name(value));
            }
        }
    }
    CHECK(returned == test::names{"w", "unread"});
    const auto manifest = scene.write(parts, folder.path());
    CHECK(manifest.tensors.size() == 6); // x, a, b, y, w, unread
}

TEST_CASE("split_planner: what is computed from a constant output of the model is not copied",
          "[onnx][split_plan]") {
    const test::scratch_folder folder;
    const auto graph = test::graph({test::node("Constant", {}, {"k"}, "/Constant"),
                                    test::node("Transpose", {"k"}, {"t"}, "/a/Transpose"),
                                    test::node("Identity", {"t"}, {"i"}, "/a/Identity"),
                                    test::node("Add", {"x", "i"}, {"p"}, "/a/Add"),
                                    test::node("Mul", {"p", "k"}, {"y"}, "/Mul")},
                                   {"x"}, {"y", "k"});
    test::split_scene scene(folder.make("model.onnx", test::model(graph).bytes()));
    const auto parts = scene.by_leaf();
    check(scene, parts);
    CHECK(parts.size() == 3); // the root is before and after "a"
    check(scene, scene.by_leaf(true));
}

} // namespace test::cut_split_planner
