// SPDX-License-Identifier: Apache-2.0
#include <stemma/check/check_model.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../written_text.hpp"

#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/write_tagged.hpp>

#include <string>
#include <vector>

namespace test::check_check_model {

namespace {

std::vector<std::string> codes_of(const std::vector<stemma::finding>& findings) {
    std::vector<std::string> codes;
    for (const auto& one : findings) {
        codes.push_back(one.code);
    }
    return codes;
}

} // namespace

TEST_CASE("check_model: fixtures and their tagged files have no errors") {
    for (const auto* fixture : {"mlp", "bert_micro", "control_flow"}) {
        stemma::attributed_model opened(test::fixture(std::string(fixture) + "/model.onnx"), {});
        CHECK(stemma::count_of(stemma::find_problems(opened.model()), stemma::severity::error) ==
              0);
        const auto tagged = stemma::tagged_bytes(opened);
        const stemma::wire_model model(tagged, "tagged");
        CHECK(stemma::find_problems(model, {.data = false}).empty());
        CHECK(stemma::find_problems(model, {.data = false, .expected = &opened.modules()}).empty());
    }
}

TEST_CASE("check_model: reports a tree other than the expected one") {
    stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"), {});
    const auto tagged = stemma::tagged_bytes(opened);
    const stemma::wire_model model(tagged, "tagged");
    const auto other = test::read_capture(test::fixture("mlp/modules.json"));
    CHECK(codes_of(stemma::find_problems(model, {.expected = &other})) ==
          std::vector<std::string>{"tags.other_tree"});
    CHECK(stemma::find_problems(model, {.expected = &other}, stemma::errors_only{}).empty());
    CHECK(stemma::count_of(
              stemma::find_problems(model, {.expected = &other}, stemma::warnings_as_errors{}),
              stemma::severity::error) == 1);
}

TEST_CASE("check_model: reports unreadable tags") {
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    auto tagged = stemma::tagged_bytes(opened);
    const auto schema = tagged.find("stemma.model/1");
    REQUIRE(schema != std::string::npos);
    tagged.replace(schema, 6, "STEMMA");
    const stemma::wire_model model(tagged, "tagged");
    const auto codes = codes_of(stemma::find_problems(model));
    CHECK(codes == std::vector<std::string>{"tags.damaged"});
}

TEST_CASE("write_json: counts what it lists") {
    stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"), {});
    const std::vector<stemma::finding> findings{
        {"a.b", 2, "is wrong", stemma::severity::error, "node"},
        {"a.c", stemma::no_id, "is odd", stemma::severity::warning, "model"}};
    const auto json = test::json_of(findings, opened.model(), "bert");
    CHECK(json["schema"] == "stemma.validate/1");
    CHECK(json["valid"] == false);
    CHECK(json["errors"] == 1);
    CHECK(json["warnings"] == 1);
    CHECK(json["findings"][0]["node"] == "#2");
    CHECK(json["findings"][1]["node"].is_null());
}

} // namespace test::check_check_model
