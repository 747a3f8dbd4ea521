// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/model_cost.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/error.hpp>
#include <stemma/stemma.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace test::cost_model_cost {

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
    auto model = stemma::open(path);
    const auto cost = stemma::find_cost(model, {.dims = {{"batch", 2}}});
    std::map<std::string, std::string> macs;
    for (const auto module : model.modules()) {
        macs[module.path()] = cost.text(cost[module].macs);
    }
    CHECK(macs.at("") == "112");
}

TEST_CASE("model_cost: rejects unknown names of dimensions", "[cost]") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    stemma::cost_options options;
    options.dims["width"] = 3;
    CHECK_THROWS_AS(stemma::find_cost(opened, options), stemma::error);
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

} // namespace test::cost_model_cost
