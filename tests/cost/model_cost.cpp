// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/model_cost.hpp>

#include "../catch.hpp"
#include "../inferred_types.hpp"
#include "../model_files.hpp"
#include "../opened_graph.hpp"
#include "../operator_scene.hpp"

#include <stemma/error.hpp>
#include <stemma/stemma.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace test::cost_model_cost {

namespace {

stemma::model_cost cost_of(const std::string& bytes, const stemma::cost_options& options = {}) {
    auto opened = test::in_memory(bytes);
    return stemma::find_cost(opened, options);
}

/// Returns: the bytes of the result of one operator, as a formula.
std::string size_of(test::inference_scene scene, const test::message& node) {
    const auto cost = cost_of(scene.node(node).model_with("y"));
    return cost.text(cost[0].out);
}

} // namespace

TEST_CASE("model_cost: a module's cost is the sum of its own and its children's", "[cost]") {
    stemma::attributed_model opened(test::fixture("two_tower/model.onnx"), {});
    const auto cost = stemma::find_cost(opened);
    const auto& tree = opened.modules().index();
    for (stemma::id m = 0; m < cost.size(); ++m) {
        auto sum = cost.own(m).macs;
        for (stemma::id below = m + 1; below < tree.end(m); below = tree.end(below)) {
            sum += cost[below].macs;
        }
        CHECK(sum == cost[m].macs);
        CHECK(cost[m].unknown == 0);
    }
    CHECK(cost.open_dims() == std::vector<std::string>{"texts", "images"});
}

TEST_CASE("find_cost: the code in docs/library.md works", "[cost]") {
    const auto path = test::fixture("mlp/model.onnx");
    const auto model = stemma::open(path);
    const auto cost = stemma::find_cost(model, {.dims = {{"batch", 2}}});
    std::map<std::string, std::string> macs;
    for (const auto module : model.modules()) {
        macs[module.path()] = cost.text(cost[module].macs);
    }
    CHECK(macs.at("") == "112");
}

TEST_CASE("model_cost: rejects unknown names of dimensions, and negative sizes", "[cost]") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    stemma::cost_options options;
    options.dims["width"] = 3;
    CHECK_THROWS_AS(stemma::find_cost(opened, options), stemma::error);
    options.dims = {{"batch", -3}};
    CHECK_THROWS_WITH(stemma::find_cost(opened, options), Catch::Contains("-3 is negative"));
}

TEST_CASE("model_cost: unlisted operators are unknown, not free", "[cost]") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    stemma::cost_options options;
    options.rules = stemma::cost_rules("gemm 0 1 2: Gemm\n");
    const auto cost = stemma::find_cost(opened, options);
    CHECK(cost[0].unknown == 1);
    CHECK(cost.unlisted() == std::map<std::string, std::uint64_t>{{"Relu", 1}});
    CHECK(cost.text(cost[0].macs) == "56*batch");
    for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
        CHECK(cost.knows_cost(node) == (opened.model().op_type(node) == "Gemm"));
        CHECK(cost.knows_bytes(node));
    }
}

TEST_CASE("model_cost: functions count at each call", "[cost]") {
    stemma::attributed_model plain(test::fixture("bert_micro/model.onnx"), {});
    stemma::attributed_model called(test::fixture("bert_micro/model.functions.onnx"), {});
    const auto one = stemma::find_cost(plain);
    const auto other = stemma::find_cost(called);
    CHECK(one.text(one[0].macs) == other.text(other[0].macs));
}

TEST_CASE(
    "model_cost: activations of modules and nodes have equal sums, with functions inlined or not",
    "[cost]") {
    for (const auto* name : {"bert_micro/model.onnx", "bert_micro/model.functions.onnx"}) {
        stemma::attributed_model opened(test::fixture(name), {});
        const auto cost = stemma::find_cost(opened, {{{"batch_size", 2}, {"sequence", 9}}});
        const auto all = cost[0].activations.constant();
        REQUIRE(all);
        double sum = 0;
        for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
            sum += cost.node_activations(node);
        }
        CHECK(sum == static_cast<double>(*all));
        CHECK(sum > 0);
        CHECK(cost.gaps().empty());
    }
}

TEST_CASE("model_cost: modules in functions read and write as without functions", "[cost]") {
    stemma::attributed_model plain(test::fixture("bert_micro/model.onnx"), {});
    stemma::attributed_model called(test::fixture("bert_micro/model.functions_all.onnx"), {});
    const auto one = stemma::find_cost(plain);
    const auto other = stemma::find_cost(called);
    for (const auto* path : {"encoder", "encoder.layer.0", "encoder.layer.1.attention",
                             "encoder.layer.1.attention.self", "encoder.layer.0.output.dense"}) {
        INFO(path);
        const auto a = test::module_at(plain.modules(), path);
        const auto b = test::module_at(called.modules(), path);
        CHECK(one.text(one[a].in) == other.text(other[b].in));
        CHECK(one.text(one[a].out) == other.text(other[b].out));
        CHECK(one[a].in.constant() != 0);
    }
}

TEST_CASE("model_cost: the state of a loop is read from outside the modules in its body",
          "[cost]") {
    stemma::attributed_model opened(test::fixture("scripted_children/model.onnx"), {});
    const auto cost = stemma::find_cost(opened);
    const auto step = test::module_at(opened.modules(), "loop.step");
    CHECK(cost.text(cost[step].in) == cost.text(cost[step].out));
}

TEST_CASE("model_cost: slices of open extents", "[cost]") {
    const auto sliced = [](std::int64_t start, std::int64_t end) {
        const auto at = [](std::int64_t number) {
            return test::dims{static_cast<std::uint64_t>(number)};
        };
        auto scene = test::inference_scene().open_input("x", {"rows", "4"});
        scene.numbers("start", at(start)).numbers("end", at(end)).numbers("axis", {0});
        return size_of(scene, test::node("Slice", {"x", "start", "end", "axis"}, {"y"}));
    };
    constexpr auto far = std::numeric_limits<std::int64_t>::max();
    CHECK(sliced(0, 512) == "16*min(rows, 512)");
    CHECK(sliced(-100, far) == "16*min(rows, 100)");
    CHECK(sliced(0, 1) == "16");
    CHECK(sliced(-1, far) == "16");
    CHECK(sliced(0, -2) == "16*rows - 32");
    CHECK(sliced(3, far) == "16*rows - 48");
}

TEST_CASE("model_cost: parts of an open extent whose last one may be smaller", "[cost]") {
    auto scene = test::inference_scene().open_input("x", {"rows", "4"});
    const auto split = [](const test::names& outputs) {
        return test::owner_node("Split", {"x"}, outputs, test::attributes("num_outputs=2"));
    };
    CHECK(size_of(scene, split({"y", "rest"})) == "16*floor((rows + 1)/2)");
    CHECK(size_of(scene, split({"first", "y"})) == "16*rows - 16*floor((rows + 1)/2)");
}

TEST_CASE("model_cost: views of weights take no memory, and are not read from outside", "[cost]") {
    const auto constant = test::message().text(1, "value").inner(5, test::tensor("", {3, 100}));
    for (const auto* op : {"Identity", "Reshape"}) {
        for (const bool is_constant : {false, true}) {
            INFO(op << (is_constant ? " of a constant" : " of an initializer"));
            auto scene = test::inference_scene().input("x", {5, 3}).numbers("shape", {3, 100});
            is_constant ? scene.node(test::owner_node("Constant", {}, {"w"}, {constant}))
                        : scene.weight("w", {3, 100});
            scene.node(test::node(op, {"w", "shape"}, {"v"}));
            const auto cost =
                cost_of(scene.node(test::node("MatMul", {"x", "v"}, {"y"})).model_with("y"));
            CHECK(cost[0].activations.constant() == (5 * 100) * 4);
            CHECK(cost[0].peak.constant() == (5 * 3 + 5 * 100) * 4);
            CHECK(cost[0].in.constant() == (5 * 3) * 4);
        }
    }
}

TEST_CASE("model_cost: the bias of a convolution is added, wherever it is an input", "[cost]") {
    const auto additions = [](const test::message& node) {
        auto scene = test::inference_scene()
                         .input("x", {1, 2, 5, 5})
                         .input("o", {1, 18, 3, 3})
                         .weight("w", {4, 2, 3, 3})
                         .weight("b", {4});
        const auto cost = cost_of(scene.node(node).model_with("y"));
        return *cost[0].flops.constant() - 2 * *cost[0].macs.constant();
    };
    CHECK(additions(test::node("Conv", {"x", "w"}, {"y"})) == 0);
    CHECK(additions(test::node("Conv", {"x", "w", "b"}, {"y"})) == 4 * 3 * 3);
    CHECK(additions(test::node("DeformConv", {"x", "w", "o"}, {"y"})) == 0);
    CHECK(additions(test::node("DeformConv", {"x", "w", "o", "b"}, {"y"})) == 4 * 3 * 3);
}

TEST_CASE("model_cost: names what is not fixed, also in computed extents", "[cost]") {
    auto scene = test::inference_scene().open_input("x", {"rows", "4"});
    scene.numbers("start", {0}).numbers("end", {512}).numbers("axis", {0});
    scene.node(test::node("Slice", {"x", "start", "end", "axis"}, {"y"}));
    CHECK(cost_of(scene.model_with("y")).open_dims() == std::vector<std::string>{"rows"});
}

TEST_CASE("model_cost: knows the factors of a product whose batch is transposed", "[cost]") {
    auto scene = test::inference_scene().input("a", {4, 2, 3}).input("b", {2, 4, 5});
    auto node = test::owner_node("FusedMatMul", {"a", "b"}, {"y"},
                                 test::attributes("transA=1 transBatchA=1"));
    scene.node(node.text(7, "com.microsoft"));
    CHECK(cost_of(scene.model_with("y"))[0].macs.constant() == 2 * 3 * 5 * 4);
}

TEST_CASE("model_cost: attention without padding has as many scores as rows in a batch", "[cost]") {
    auto scene = test::inference_scene().input("x", {5, 8}).input("w", {8, 24}).input("b", {24});
    scene.input("offsets", {2, 3}, 6).input("ends", {3}, 6);
    const auto node = test::owner_node("PackedAttention", {"x", "w", "b", "offsets", "ends"}, {"y"},
                                       test::attributes("num_heads=2"));
    scene.node(test::message(node).text(7, "com.microsoft"));
    CHECK(cost_of(scene.model_with("y"))[0].macs.constant() == 5 * 8 * 24 + 5 * 3 * (8 + 8));
}

TEST_CASE("model_cost: quantized attention makes real numbers", "[cost]") {
    auto scene = test::inference_scene().input("x", {2, 3, 8}, 2).input("w", {8, 24}, 3);
    scene.input("bias", {24}).input("x_scale", test::dims{}).input("w_scale", test::dims{});
    auto node = test::owner_node("QAttention", {"x", "w", "bias", "x_scale", "w_scale"}, {"y"},
                                 test::attributes("num_heads=2"));
    CHECK(size_of(scene, node.text(7, "com.microsoft")) == std::to_string(2 * 3 * 8 * 4));
}

TEST_CASE("model_cost: reports what the numbers omit", "[cost]") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    stemma::cost_options options;
    options.rules = stemma::cost_rules("gemm 0 1 2: Gemm\n");
    options.typical = 8;
    CHECK(stemma::find_cost(opened, options).gaps() ==
          std::vector<std::string>{"not fixed, taken as 8: batch",
                                   "1 node of unknown cost not counted"});
}

TEST_CASE("model_cost: knows extents computed from others", "[cost]") {
    // 2 by 2 patches of 3 channels to 6, windows of 4 by 4 patches, each mixed to 12 and with
    // itself.
    const auto by_hand = [](std::int64_t height, std::int64_t width) {
        const auto windows = (height / 2 + 3) / 4 * ((width / 2 + 3) / 4);
        return (height / 2) * (width / 2) * 6 * 12 + windows * 16 * (6 * 12 + 16 * 6);
    };
    stemma::attributed_model opened(test::fixture("../shapes/windows.onnx"), {});
    CHECK(stemma::find_cost(opened)[0].unknown == 0);
    for (const std::int64_t height : {16, 18, 20, 22, 24}) {
        const auto cost =
            stemma::find_cost(opened, {{{"batch", 1}, {"height", height}, {"width", 26}}});
        CHECK(cost[0].macs.constant() == by_hand(height, 26));
    }
}

TEST_CASE("cost_measure: knows its names and no others", "[cost]") {
    STATIC_REQUIRE(stemma::parse_name<stemma::cost_measure>("macs") == stemma::cost_measure::macs);
    STATIC_REQUIRE(stemma::parse_name<stemma::cost_measure>("flops") ==
                   stemma::cost_measure::flops);
    STATIC_REQUIRE(stemma::parse_name<stemma::cost_measure>("activations") ==
                   stemma::cost_measure::activations);
    STATIC_REQUIRE_FALSE(stemma::parse_name<stemma::cost_measure>("bytes"));
    STATIC_REQUIRE_FALSE(stemma::parse_name<stemma::cost_measure>(""));
}

} // namespace test::cost_model_cost
