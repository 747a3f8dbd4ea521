// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/plan_fold.hpp>

#include "../catch.hpp"
#include "../fold_scene.hpp"
#include "../model_files.hpp"

#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace test::fold_plan_fold {

TEST_CASE("plan_fold: nested layers, callees before callers") {
    auto scene = test::layered_model(5);
    const auto plan = scene.plan();
    // Five layers, a fc in each.
    REQUIRE(plan.regions.size() == 11);
    REQUIRE(plan.functions.size() == 2);
    CHECK(plan.functions[0].numbered() == "Linear");
    CHECK(plan.functions[0].calls == 5);
    CHECK(plan.functions[1].numbered() == "Layer");
    CHECK(plan.functions[1].domain == "net");
    CHECK(plan.functions[1].calls == 5);
    CHECK(plan.paths[1] == "layer.0");
    CHECK(plan.paths[2] == "fc");
    CHECK(plan.in_bodies == 0);
    for (stemma::id r = 1; r < plan.regions.size(); ++r) {
        CHECK(plan.function[r] < plan.function[plan.regions[r].parent]); // the graph's is `no_id`
    }
}

TEST_CASE("plan_fold: in the fixtures, regions contain their modules' nodes, and calls match") {
    std::size_t shared = 0;
    for (const auto& file : test::model_files()) {
        CAPTURE(file);
        stemma::attributed_model opened(file, {});
        const auto& model = opened.model();
        const stemma::graph_contents contents(model);
        stemma::node_shapes shapes(model, contents);
        const auto plan =
            stemma::plan_fold(model, contents, opened.modules(), opened.tags().attributions, shapes,
                              stemma::fold_options<>{.selection = stemma::all_modules{}});
        std::set<stemma::id> met;
        for (const auto& region : plan.regions) {
            for (const auto& item : region.items) {
                if (item.is_region) {
                    continue;
                }
                const bool is_new = met.insert(item.index).second;
                const bool is_constant = stemma::detail::is_constant_node(model, item.index);
                REQUIRE((is_new || is_constant)); // these are wherever they are read
                if (region.module != 0 && !is_constant) {
                    const auto module = opened.tags().attributions[item.index].module;
                    REQUIRE(opened.modules().index().is_ancestor(region.module, module));
                }
            }
        }
        std::size_t nodes = 0;
        for (stemma::id g = 0; g < model.graph_count(); ++g) {
            nodes += plan.root[g] != stemma::no_id ? contents.own_nodes(g).size() : 0;
        }
        CHECK(met.size() == nodes);
        std::vector<stemma::id> calls(plan.functions.size(), 0);
        for (stemma::id r = 1; r < plan.regions.size(); ++r) {
            if (plan.is_graph(r)) {
                continue;
            }
            const auto& function = plan.functions[plan.function[r]];
            ++calls[plan.function[r]];
            REQUIRE(plan.inputs[r].size() == plan.inputs[function.region].size());
            REQUIRE(plan.outputs[r].size() == plan.outputs[function.region].size());
            const std::set<stemma::id> inputs(plan.inputs[r].begin(), plan.inputs[r].end());
            CHECK(inputs.size() == plan.inputs[r].size());
            for (std::size_t i = 0; i < plan.inputs[r].size(); ++i) {
                CHECK(model.is_initializer(plan.inputs[r][i]) == (i >= function.activations));
            }
        }
        for (std::size_t f = 0; f < calls.size(); ++f) {
            CHECK(calls[f] == plan.functions[f].calls);
            shared += calls[f] > 1 ? 1U : 0U;
        }
    }
    CHECK(shared > 0);
}

TEST_CASE("plan_fold: rejects a name that no function may have") {
    for (const auto& name : {stemma::function_name{"net", ""}, stemma::function_name{"", "Layer"},
                             stemma::function_name{"ai.onnx.ml", "Layer"}}) {
        auto scene = test::layered_model(5);
        scene.options.name_of = [&](const auto&, stemma::id) { return name; };
        CHECK_THROWS_AS(scene.plan(), stemma::error);
    }
}

TEST_CASE("plan_fold: rejects a value defined twice or by itself") {
    const auto refused = [](const std::vector<test::message>& nodes) {
        test::fold_scene scene{test::model(test::graph(nodes, {"x"}, {"y"})).bytes(),
                               test::layers(1),
                               std::vector<stemma::attribution>(
                                   nodes.size(), {2, stemma::no_id, 1, stemma::provenance::scope})};
        CHECK_THROWS_AS(scene.plan(), stemma::error);
    };
    refused({test::node("Relu", {"x"}, {"y"}), test::node("Tanh", {"x"}, {"y"})});
    refused({test::node("Add", {"x", "b"}, {"a"}), test::node("Relu", {"a"}, {"b"}),
             test::node("Relu", {"b"}, {"y"})});
}

TEST_CASE("plan_fold: calls of overloaded functions stay outside, with what owns them") {
    const auto call = [](const char* in, const char* out) {
        return test::node("Two", {in}, {out}, out, "d").text(8, "one");
    };
    test::placed_nodes placed;
    placed.add_layer(0, "/layer/layer.0", "x", "a");
    placed.add(call("a", "b"), 2); // of the layer
    placed.add_layer(1, "/layer/layer.1", "b", "c");
    test::placed_nodes body;
    body.add(call("c", "d"), 4);
    body.add(test::node("Relu", {"d"}, {"e"}), 4);
    placed.add_branches(body, "e", "y", 4);
    auto scene = placed.scene(2, "y");
    const auto plan = scene.plan();
    CHECK(plan.functions.size() == 2); // both layers are one
    std::size_t outside = 0;
    for (stemma::id r = 0; r < plan.regions.size(); ++r) {
        for (const auto& item : plan.regions[r].items) {
            const bool stays = !item.is_region && (scene.model.op_type(item.index) == "Two" ||
                                                   scene.model.op_type(item.index) == "If");
            CHECK((!stays || plan.is_graph(r)));
            outside += stays ? 1U : 0U;
        }
    }
    CHECK(outside == 2); // bodies do not change
}

TEST_CASE("plan_fold: nodes in bodies move with their owner, unless of another module") {
    const auto body = test::graph({test::node("Add", {"a", "w"}, {"c"})}, {}, {"c"});
    const auto planned = [&](stemma::id of_body) {
        const stemma::attribution here{2, stemma::no_id, 1, stemma::provenance::scope};
        const stemma::attribution inside{of_body, stemma::no_id, 1, stemma::provenance::scope};
        test::fold_scene scene{
            test::model(
                test::graph({test::node("Relu", {"x"}, {"a"}),
                             test::owner_node("If", {"x"}, {"y"},
                                              {test::graph_attribute("then_branch", body)})},
                            {"x"}, {"y"}, {"w"}))
                .bytes(),
            test::layers(2),
            {here, inside, here}};
        auto plan = scene.plan();
        REQUIRE(plan.inputs.at(1).size() == 2);
        CHECK(scene.model.value_name(plan.inputs.at(1)[1]) == "w"); // captured, so an input
        CHECK(plan.call_count() == 1);
        return plan;
    };
    CHECK(planned(2).in_bodies == 0);
    CHECK(planned(2).noted.empty());
    CHECK(planned(3).in_bodies == 0); // `fc` is in the layer, and too small
    CHECK(planned(3).noted.size() == 1);
    CHECK(planned(4).in_bodies == 1); // of another layer
    CHECK(planned(4).noted.empty());
    CHECK(planned(0).in_bodies == 0);
}

} // namespace test::fold_plan_fold
