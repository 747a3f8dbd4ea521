// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/model_loads.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace test::cut_model_loads {

using stemma::id;

TEST_CASE("model_loads: a load has operator, shapes, weights, attributes and module",
          "[onnx][model_loads]") {
    const stemma::attributed_model opened(test::fixture("unet_tiny/model.onnx"), {});
    const auto& model = opened.model();
    const stemma::model_loads loads(model, opened.modules(), opened.tags().attributions);
    REQUIRE(loads.all().size() == model.node_count());
    const auto counted = stemma::detail::find_loads(model);
    std::size_t convolutions = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        const auto& load = loads.all()[node];
        CHECK(load.weight_bytes == counted[node].weight_bytes);
        CHECK(load.operators == counted[node].operators);
        CHECK(load.op_type() == model.op_type(node));
        CHECK(load.details->name(node) == model.name(node));
        CHECK(load.module_path() == opened.modules().path(opened.tags().attributions[node].module));
        if (load.op_type() != "Conv") {
            continue;
        }
        ++convolutions;
        const auto kernel = load.wholes("kernel_shape");
        const auto inputs = load.inputs();
        const auto outputs = load.outputs();
        REQUIRE((kernel && inputs.size() > 1 && outputs.size() == 1));
        CHECK(inputs[1].is_weight);
        CHECK_FALSE(inputs[0].is_weight);
        REQUIRE((inputs[1].shape && outputs[0].shape));
        CHECK(std::vector<std::int64_t>(inputs[1].shape->begin() + 2, inputs[1].shape->end()) ==
              *kernel);
        CHECK(outputs[0].shape->at(1) == inputs[1].shape->at(0)); // channels
        CHECK(outputs[0].element_type == "float32");
        CHECK(load.whole("group") == 1);
        CHECK_FALSE(load.whole("no such"));
    }
    CHECK(convolutions > 5);
}

TEST_CASE("model_loads: the nodes inside a node are those of its bodies and its function",
          "[onnx][model_loads]") {
    for (const auto* name : {"control_flow/model.onnx", "bert_micro/model.functions.onnx"}) {
        const stemma::attributed_model opened(test::fixture(name), {});
        const auto& model = opened.model();
        const stemma::model_loads loads(model, opened.modules(), opened.tags().attributions);
        std::size_t count = 0;
        for (id node = 0; node < model.node_count(); ++node) {
            for (auto inner : loads.inside(node)) {
                ++count;
                CHECK((model.owner(inner) == node || model.callee(node) != stemma::no_id));
            }
        }
        CHECK(count > 0);
    }
}

TEST_CASE("model_loads: the work of the main graph's nodes adds up to that of the model",
          "[onnx][model_loads]") {
    for (const auto* name : {"bert_micro/model.onnx", "bert_micro/model.functions.onnx"}) {
        stemma::attributed_model opened(test::fixture(name), {});
        const stemma::cost_options how{{{"batch_size", 2}, {"sequence", 9}}};
        const stemma::model_loads loads(opened.model(), opened.modules(),
                                        opened.tags().attributions, how);
        CHECK(loads.counted() == nullptr);
        stemma::operator_work sum;
        for (const auto& load : loads.all()) {
            const auto work = load.work();
            sum.macs += stemma::cost_in_macs{}.cost(load);
            sum.flops += work.flops;
            sum.activations += work.activations;
        }
        const auto cost = stemma::find_cost(opened, how);
        CHECK(std::optional(static_cast<std::int64_t>(sum.macs)) == cost[0].macs.constant());
        CHECK(std::optional(static_cast<std::int64_t>(sum.flops)) == cost[0].flops.constant());
        CHECK(std::optional(static_cast<std::int64_t>(sum.activations)) ==
              cost[0].activations.constant());
        CHECK(loads.counted() != nullptr);
    }
}

TEST_CASE("operator_load: without a reader there are no details", "[onnx][model_loads]") {
    const stemma::operator_load load{1, 10, 40, 70};
    CHECK(load.op_type().empty());
    CHECK(load.inputs().empty());
    CHECK_FALSE(load.whole("axis"));
    CHECK_FALSE(load.wholes("axes"));
    CHECK(load.module_path().empty());
    CHECK(load.work().macs == 0);
    stemma::load_value value;
    CHECK_FALSE(value.elements());
    value.shape = std::vector<std::int64_t>{2, 3};
    CHECK(value.elements() == 6);
    value.shape->push_back(-1);
    CHECK_FALSE(value.elements());
}

} // namespace test::cut_model_loads
