// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/explanation.hpp>

#include "../captured_model.hpp"
#include "../catch.hpp"
#include "../model_files.hpp"
#include "../opened_graph.hpp"
#include "../wire_builder.hpp"

#include <stemma/onnx/value_definitions.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/stemma.hpp>
#include <stemma/weights/identify_parameters.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace test::report_explanation {

namespace {

using stemma::id;
using stemma::no_id;

} // namespace

TEST_CASE("explainer: agrees with the attribution of nodes") {
    for (const auto* fixture : {"bert_micro", "control_flow", "shared_twice"}) {
        auto opened = test::captured_model(fixture);
        const stemma::explainer explainer(opened);
        const auto& tagged = opened.tags();
        for (id node = 0; node < opened.model().node_count(); ++node) {
            const auto one = explainer.explain_node(node);
            CHECK(one.module == tagged.attributions[node].module);
            CHECK(one.tag == tagged.tags.text(one.module));
            CHECK(one.selected == tagged.selected(node));
            CHECK(one.source == tagged.attributions[node].source);
            CHECK(one.outputs.size() == opened.model().output_count(node));
            CHECK(one.tags.size() == tagged.pool.size_of(tagged.tag_sets[node]));
            for (const auto& claim : one.claims) {
                CHECK((claim.relation == stemma::explanation::claim_relation::decided) ==
                      (claim.made.module == one.module));
            }
        }
    }
}

TEST_CASE("explainer: an omitted output is none") {
    const auto bytes =
        test::model(
            test::graph({test::node("LSTM", {"x", "w", "r"}, {"", "h"}, "lstm")}, {"x"}, {"h"}))
            .bytes();
    const auto opened = test::in_memory(bytes);
    const auto one = stemma::explainer(opened).explain_node(0);
    REQUIRE(one.outputs.size() == 1);
    CHECK(opened.model().value_name(one.outputs.front().value) == "h");
}

TEST_CASE("explainer: producers and readers are inverse") {
    auto opened = test::captured_model("bert_micro");
    const stemma::explainer explainer(opened);
    for (id node = 0; node < opened.model().node_count(); ++node) {
        for (const auto& input : explainer.explain_node(node).inputs) {
            CHECK(opened.model().producer(input.value) == input.node);
            const auto readers = explainer.explain_value(input.value).readers;
            CHECK(std::find(readers.begin(), readers.end(), node) != readers.end());
        }
    }
}

TEST_CASE("explainer: finds nodes by name and by position, values by name") {
    auto opened = test::captured_model("control_flow");
    const auto& model = opened.model();
    const stemma::explainer explainer(opened);
    for (id node = 0; node < model.node_count(); ++node) {
        CHECK(explainer.nodes_called(stemma::position_text(model, node)) == std::vector<id>{node});
        if (!model.name(node).empty()) {
            const auto named = explainer.nodes_called(model.name(node));
            CHECK(std::find(named.begin(), named.end(), node) != named.end());
        }
    }
    const auto input = model.graph(0).inputs.front();
    const auto answer = explainer.explain(model.value_name(input));
    REQUIRE(answer.values.size() == 1);
    CHECK(answer.values.front().value == input);
    CHECK(answer.values.front().producer == no_id);
    CHECK(explainer.explain("").empty());
    CHECK(explainer.explain("#").empty());
    CHECK(explainer.explain("#1x").empty());
}

TEST_CASE("explainer: takes handles, as all functions on a model do") {
    const auto model = stemma::open(test::fixture("mlp/model.onnx"));
    const stemma::explainer explainer(model);
    const auto node = model.nodes()[0];
    const auto value = node.outputs()[0];
    const auto module = node.module();
    CHECK(explainer.explain(node).nodes.at(0).node == to_index(node.id()));
    CHECK(explainer.explain(value).values.at(0).value == to_index(value.id()));
    CHECK(explainer.explain(module).asked == module.path());
    CHECK(explainer.explain(node.id()).asked == "#0");
}

TEST_CASE("explainer: nodes have attributes, and values types") {
    auto opened = test::captured_model("unet_tiny");
    const stemma::explainer explainer(opened);
    std::size_t convolutions = 0;
    for (id node = 0; node < opened.model().node_count(); ++node) {
        if (opened.model().op_type(node) != "Conv") {
            continue;
        }
        ++convolutions;
        const auto one = explainer.explain_node(node);
        CHECK(std::any_of(one.attributes.begin(), one.attributes.end(),
                          [](const auto& each) { return each.name == "strides"; }));
        REQUIRE(one.inputs.size() >= 2);
        CHECK(one.inputs[1].type.starts_with("float32["));
        CHECK(one.outputs[0].type.starts_with("float32["));
    }
    CHECK(convolutions > 0);
}

TEST_CASE("explainer: modules are found by path, tag and alias, and the root by ''") {
    auto opened = test::captured_model("bert_micro");
    const stemma::explainer explainer(opened);
    const auto& modules = opened.modules();
    for (id m = 1; m < modules.size(); ++m) {
        CHECK(explainer.modules_called(modules.path(m)) == std::vector<id>{m});
        if (opened.tags().tags.is_selected(m)) {
            CHECK(explainer.modules_called(opened.tags().tags.text(m)) == std::vector<id>{m});
        }
    }
    CHECK(explainer.modules_called("''") == std::vector<id>{0});
    CHECK(explainer.modules_called("encoder.nothing").empty());
    auto shared = test::captured_model("shared_twice");
    const stemma::explainer of_shared(shared);
    for (const auto& alias : shared.modules().aliases()) {
        CHECK(of_shared.modules_called(alias.path) == std::vector<id>{alias.module});
    }
}

TEST_CASE("explainer: finds parameters by declared path") {
    auto opened = test::captured_model("bert_micro");
    const stemma::explainer explainer(opened);
    const auto answer = explainer.explain("encoder.layer.0.intermediate.dense.weight");
    REQUIRE(answer.parameters.size() == 1);
    const auto& one = answer.parameters[0];
    CHECK(opened.modules().path(one.module) == "encoder.layer.0.intermediate.dense");
    CHECK(opened.modules().parameter(one.module, one.number).name == "weight");
    CHECK(!one.buffer);
    CHECK(explainer.explain("encoder.layer.0.intermediate.dense.wait").empty());
}

TEST_CASE("explainer: initializers are found by the entry that they were made from") {
    auto opened = test::captured_model("bert_micro");
    stemma::explainer explainer(opened);
    const std::string entry = "encoder.layer.0.attention.self.query.weight";
    CHECK(explainer.explain(entry).values.empty());
    explainer.add_origins(stemma::identify_parameters(opened));
    const auto values = explainer.explain(entry).values;
    REQUIRE(values.size() == 1);
    CHECK(opened.model().kind(values[0].value) == stemma::value_kind::initializer);
    CHECK(values[0].origin->entries == std::vector{entry});
    const auto by_name = explainer.explain(opened.model().value_name(values[0].value)).values;
    REQUIRE(by_name.size() == 1);
    CHECK(by_name[0].value == values[0].value);
}

TEST_CASE("explainer: functions are found by name, with and without their domain") {
    auto opened = stemma::attributed_model(test::fixture("../dialects/nested_functions.onnx"), {});
    const auto& model = opened.model();
    REQUIRE(!model.functions().empty());
    const stemma::explainer explainer(opened);
    for (id f = 0; f < model.functions().size(); ++f) {
        const auto path = model.graph_path(model.functions()[f].graph);
        const auto answer = explainer.explain(path);
        REQUIRE(answer.functions.size() == 1);
        CHECK(answer.functions[0].function == f);
        for (auto node : answer.functions[0].calls) {
            CHECK(model.callee(node) == f);
        }
        CHECK(explainer.explain(path.substr(1)).functions.size() == 1);
        CHECK(!explainer.explain(model.text(model.functions()[f].name)).functions.empty());
    }
}

} // namespace test::report_explanation
