// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/explanation.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/onnx/definitions.hpp>
#include <stemma/open/attributed_model.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace test::report_explanation {

namespace {

using stemma::id;
using stemma::no_id;

stemma::attributed_model open_model(const std::string& fixture) {
    return {test::fixture(fixture + "/model.onnx"),
            {.captures = stemma::captures({test::fixture(fixture + "/modules.json")})}};
}

} // namespace

TEST_CASE("explainer: what it says of a node is what was attributed") {
    for (const auto* fixture : {"bert_micro", "control_flow", "shared_twice"}) {
        auto opened = open_model(fixture);
        const stemma::explainer explainer(opened);
        const auto& found = opened.tags();
        for (id node = 0; node < opened.model().node_count(); ++node) {
            const auto one = explainer.explain_node(node);
            CHECK(one.module == found.attributions[node].module);
            CHECK(one.tag == found.tags.text(one.module));
            CHECK(one.selected == found.selected(node));
            CHECK(one.source == found.attributions[node].source);
            CHECK(one.outputs.size() == opened.model().output_count(node));
            CHECK(one.tags.size() == found.pool.size_of(found.tag_sets[node]));
            for (const auto& claim : one.claims) {
                CHECK((claim.relation == stemma::claim_relation::decided) ==
                      (claim.made.module == one.module));
            }
        }
    }
}

TEST_CASE("explainer: producers and readers look at each other") {
    auto opened = open_model("bert_micro");
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
    auto opened = open_model("control_flow");
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

TEST_CASE("explainer: knows what looks like a name that there is not") {
    auto opened = open_model("bert_micro");
    const stemma::explainer explainer(opened);
    const std::string name(opened.model().name(0));
    REQUIRE(!name.empty());
    const auto like = explainer.names_like(name + "x");
    CHECK(std::find(like.begin(), like.end(), name) != like.end());
}

TEST_CASE("write_explanations: answers stand in the order of the questions") {
    auto opened = open_model("bert_micro");
    const stemma::explainer explainer(opened);
    const std::vector<stemma::explanation> answers{explainer.explain("#3"),
                                                   explainer.explain("nobody")};
    stemma::string_sink sink;
    stemma::write_explanations(sink, answers, opened, "bert");
    const auto json = nlohmann::json::parse(sink.text);
    CHECK(json["schema"] == "stemma.explain/1");
    CHECK(json["model"] == "bert");
    REQUIRE(json["answers"].size() == 2);
    const auto& node = json["answers"][0]["nodes"][0];
    CHECK(node["index"] == 3);
    CHECK(node["tag"] == answers[0].nodes[0].tag);
    CHECK(node["claims"].size() == answers[0].nodes[0].claims.size());
    CHECK(json["answers"][1]["nodes"].empty());
    CHECK(json["answers"][1]["values"].empty());
}

} // namespace test::report_explanation
