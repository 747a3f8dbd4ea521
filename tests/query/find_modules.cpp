// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/find_modules.hpp>

#include "../captured_model.hpp"
#include "../catch.hpp"
#include "../model_files.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"
#include "../written_text.hpp"

#include <stemma/error.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace test::query_find_modules {

namespace {

using stemma::id;

} // namespace

TEST_CASE("find_modules: by path, or with the reason for no match") {
    const auto opened = test::captured_model("bert_micro");
    const auto layers = stemma::find_modules(opened, "encoder.layer.*");
    REQUIRE(!layers.empty());
    for (auto m : layers) {
        CHECK(opened.modules().path(m).starts_with("encoder.layer."));
        CHECK(opened.modules().index().depth(m) == 3);
    }
    const auto missing =
        test::refusal([&] { return stemma::find_modules(opened, "encoder.layr"); });
    CHECK(missing.code() == stemma::error_code::not_found);
    CHECK(std::string(missing.what()).find("'encoder.layer'") != std::string::npos);
    CHECK(test::refusal([&] { return stemma::find_modules(opened, "op:MatMul"); }).code() ==
          stemma::error_code::refused);
    CHECK(test::refusal([&] { return stemma::find_modules(opened, "a and and"); }).code() ==
          stemma::error_code::refused);
}

TEST_CASE(
    "parse_query: every module of a model is asked for by its path, whatever its characters") {
    const stemma::attributed_model opened(test::fixture("../dialects/dynamo.onnx"), {});
    const auto& modules = opened.modules();
    bool odd = false;
    for (id m = 1; m < modules.size(); ++m) {
        const auto path = modules.path(m);
        odd = odd || path == "heads.bo'th\" ";
        CHECK(stemma::find_modules(opened, path) == std::vector{m});
    }
    CHECK(odd);
    CHECK(stemma::parse_query(opened, "").kind == stemma::query_kind::everything);
    CHECK(stemma::parse_query(opened, "op:MatMul").asks_for_operators());
}

TEST_CASE("find_nodes: by operator, ascending") {
    const auto opened = test::captured_model("bert_micro");
    const auto nodes = stemma::find_nodes(opened, "op:MatMul");
    CHECK(std::is_sorted(nodes.begin(), nodes.end()));
    std::vector<id> expected;
    for (id node = 0; node < opened.model().node_count(); ++node) {
        if (opened.model().op_type(node) == "MatMul") {
            expected.push_back(node);
        }
    }
    CHECK(nodes == expected);
    CHECK(test::refusal([&] { return stemma::find_nodes(opened, "op:Matmul"); }).code() ==
          stemma::error_code::not_found);
    const auto idle =
        test::refusal([&] { return stemma::find_nodes(opened, "embeddings.dropout"); });
    CHECK(std::string(idle.what()).find("matching modules have no nodes") != std::string::npos);
}

TEST_CASE("find_branches: matches with ancestors and descendants, down to a depth") {
    const auto opened = test::captured_model("bert_micro");
    const auto& tree = opened.modules().index();
    const auto top = stemma::find_modules(opened, "encoder.layer.0").front();
    const auto shown = stemma::find_branches(opened, "encoder.layer.0");
    const auto shallow = stemma::find_branches(opened, "encoder.layer.0", 2);
    for (id m = 0; m < tree.size(); ++m) {
        CHECK(shown[m] == tree.are_related(m, top));
        CHECK(shallow[m] == (shown[m] && tree.depth(m) <= 2));
    }
    const auto all = stemma::find_branches(opened);
    CHECK(std::find(all.begin(), all.end(), false) == all.end());
}

TEST_CASE("write_json: names model and query") {
    const auto opened = test::captured_model("bert_micro");
    const auto asked = stemma::parse_query("encoder");
    const auto json = test::json_of(stemma::answer_query(asked, opened), "encoder", opened);
    CHECK(json["schema"] == "stemma.query/1");
    CHECK(json["query"] == "encoder");
    CHECK(json["modules"][0]["path"] == "encoder");
    CHECK(test::refusal([&] {
              return stemma::answer_query(stemma::parse_query("op:No"), opened);
          }).code() == stemma::error_code::not_found);
}

TEST_CASE("answer_query: who reads a shared parameter reads it, not the Identity before") {
    const auto opened = test::captured_model("shared_twice");
    const auto& model = opened.model();
    const auto ask = [&](const std::string& text) {
        return stemma::answer_query(stemma::parse_query(text), opened);
    };
    const auto all = ask("weights:float32");
    for (auto node : all.nodes) {
        CHECK(model.op_type(node) != "Identity");
    }
    CHECK(ask("op:MatMul and weights:float32").nodes == ask("op:MatMul").nodes);
    const auto weights = ask("op:MatMul and weights:float32").initializers;
    CHECK_FALSE(weights.empty());
    CHECK(weights == ask("op:MatMul").initializers);
    CHECK(std::all_of(weights.begin(), weights.end(),
                      [&](id value) { return model.is_initializer(value); }));
}

} // namespace test::query_find_modules
