// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/explanation_json.hpp>

#include "../captured_model.hpp"
#include "../catch.hpp"
#include "../written_text.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace test::report_explanation_json {

TEST_CASE("write_json: answers are in the order of the questions") {
    const auto opened = test::captured_model("bert_micro");
    const stemma::explainer explainer(opened);
    const std::vector<stemma::explanation> answers{
        explainer.explain("#3"), explainer.explain("nobody"), explainer.explain("encoder.layer.0"),
        explainer.explain("encoder.layer.0.intermediate.dense.weight")};
    const auto json = test::json_of(answers, explainer);
    CHECK(json["schema"] == "stemma.explain/1");
    CHECK(json["model"] == opened.model().file());
    REQUIRE(json["answers"].size() == 4);
    const auto& node = json["answers"][0]["nodes"][0];
    CHECK(node["index"] == 3);
    CHECK(node["tag"] == answers[0].nodes[0].tag);
    CHECK(node["claims"].size() == answers[0].nodes[0].claims.size());
    CHECK(node["attributes"].size() == answers[0].nodes[0].attributes.size());
    CHECK(node["outputs"].size() == answers[0].nodes[0].outputs.size());
    CHECK(json["answers"][1]["nodes"].empty());
    CHECK(json["answers"][1]["values"].empty());
    const auto& module = json["answers"][2]["modules"][0];
    CHECK(module["path"] == "encoder.layer.0");
    CHECK(module["class"] == "BertLayer");
    CHECK(module["alike"] == nlohmann::json::array({"encoder.layer.1"}));
    CHECK(module["convex"] == true);
    CHECK(module["inputs"].size() == answers[2].modules[0].inputs.size());
    CHECK(json["answers"][3]["parameters"][0]["shape"] == nlohmann::json::array({64, 32}));
}

} // namespace test::report_explanation_json
