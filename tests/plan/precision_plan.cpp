// SPDX-License-Identifier: Apache-2.0
#include <stemma/plan/precision_plan.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../opened_graph.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace test::plan_precision_plan {

namespace {

using stemma::plan_format;

std::string written(const stemma::precision_plan& plan, const stemma::attributed_model& opened,
                    plan_format format) {
    stemma::string_sink sink;
    static_cast<void>(stemma::write_plan(sink, plan, opened, format));
    return sink.text;
}

/// A report in which some modules exceed the bounds.
const char* const report = R"({"schema": "stemma.numerics/1", "modules": [
    {"module": "", "verdict": "adds", "outgoing": {"sqnr": 1}},
    {"module": "a", "verdict": "adds", "outgoing": {"sqnr": 2}},
    {"module": "a.fc", "verdict": "adds", "outgoing": {"sqnr": 30}},
    {"module": "a.act", "verdict": "adds", "outgoing": {"sqnr": 5}, "own": {"sqnr": 40}},
    {"module": "b", "verdict": "unclear", "outgoing": {"sqnr": 3}},
    {"module": "c", "verdict": "passes_on", "outgoing": {"sqnr": 0}}]})";

const stemma::attributed_model& small_model() {
    static auto opened = test::in_memory(
        test::model(test::graph({test::node("MatMul", {"x", "a.fc.weight"}, {"t"}, "/a/fc/MatMul"),
                                 test::node("Relu", {"t"}, {"u"}, "/a/act/Relu"),
                                 test::node("Constant", {}, {"k"}, "/b/Constant"),
                                 test::node("Add", {"u", "k"}, {"v"}, "/b/Add:0"),
                                 test::node("Relu", {"v"}, {"y"})},
                                {"x"}, {"y"}, {"a.fc.weight"}))
            .bytes(),
        "small.onnx");
    return opened;
}

} // namespace

TEST_CASE("precision_plan: lists a query's nodes, except Constants and unnamed ones") {
    const auto& opened = small_model();
    const auto plan = stemma::plan_for_query(opened, "op:{MatMul,Add,Constant,Relu}");
    const auto json = nlohmann::json::parse(written(plan, opened, plan_format::ort));
    CHECK(json["nodes_to_exclude"] == nlohmann::json({"/a/fc/MatMul", "/a/act/Relu", "/b/Add:0"}));
    CHECK(plan.unnamed == 1);
    CHECK_THROWS_AS(stemma::plan_for_query(opened, "op:Conv"), stemma::error);
}

TEST_CASE("precision_plan: counts nodes in bodies without listing them") {
    const stemma::attributed_model opened(test::fixture("control_flow/model.onnx"), {});
    const auto plan = stemma::plan_for_query(opened, "**");
    CHECK(plan.inside > 0);
    for (const auto node : plan.nodes) {
        CHECK(opened.model().graph_of(node) == 0);
    }
}

TEST_CASE("precision_plan: each format has the keys that its tool reads") {
    const auto& opened = small_model();
    const auto plan = stemma::plan_for_query(opened, "a");
    const auto json = [&](plan_format format) {
        return nlohmann::json::parse(written(plan, opened, format));
    };
    const nlohmann::json names{"/a/fc/MatMul", "/a/act/Relu"};
    CHECK(json(plan_format::ort) == nlohmann::json{{"nodes_to_exclude", names}});
    CHECK(json(plan_format::nncf) == nlohmann::json{{"names", names}});
    CHECK(json(plan_format::olive)["passes"]["quantization"] ==
          nlohmann::json{{"type", "OnnxStaticQuantization"}, {"nodes_to_exclude", names}});
    const auto overrides = json(plan_format::ort_overrides)["TensorQuantOverrides"];
    CHECK(overrides["t"] == nlohmann::json::array({{{"quant_type", "QUInt16"}}}));
    CHECK(overrides.size() == 2);
    CHECK(json(plan_format::aimet) == nlohmann::json{{"/a/fc/MatMul", 0}, {"/a/act/Relu", 0}});
    CHECK(written(plan, opened, plan_format::tensorrt) ==
          "--precisionConstraints=obey\n"
          "--layerPrecisions=/a/fc/MatMul:fp32,/a/act/Relu:fp32\n"
          "--layerOutputTypes=/a/fc/MatMul:fp32,/a/act/Relu:fp32\n");
    for (const auto* name : {"ort", "ort-overrides", "olive", "nncf", "tensorrt", "aimet"}) {
        CHECK(stemma::parse_name<stemma::plan_format>(name));
    }
    CHECK_FALSE(stemma::parse_name<stemma::plan_format>("other"));
}

TEST_CASE("precision_plan: omits and counts names that trtexec would misread") {
    const auto& opened = small_model();
    stemma::string_sink sink;
    CHECK(stemma::write_plan(sink, stemma::plan_for_query(opened, "op:Add"), opened,
                             plan_format::tensorrt) == 1);
    CHECK(sink.text.empty());
}

TEST_CASE("precision_plan: takes the deepest modules of a report, the worst first") {
    const test::scratch_folder folder;
    const auto path = folder.make("numerics.json", report);
    const auto modules = stemma::detail::sensitive_modules(path);
    REQUIRE(modules.size() == 3);
    CHECK(modules[0].path == "a.fc");
    CHECK(modules[0].ratio == 30);
    CHECK(modules[1].path == "a.act");
    CHECK(modules[1].ratio == 40); // its own counts
    CHECK(modules[2].path == "b");
    CHECK_FALSE(modules[2].adds);
    const auto plan = stemma::plan_for_report(small_model(), path, 1);
    REQUIRE(plan.nodes.size() == 1);
    CHECK(plan.ratio.front() == 30);
    CHECK(plan.modules == 1);
    CHECK(stemma::plan_for_report(small_model(), path).modules == 3);
    const auto missing = folder.make("missing.json", R"({"schema": "stemma.numerics/1", "modules": [
        {"module": "z", "verdict": "adds"}]})");
    CHECK_THROWS_AS(stemma::plan_for_report(small_model(), missing), stemma::error);
}

TEST_CASE("precision_plan: rejects files other than reports") {
    const test::scratch_folder folder;
    for (const auto* text :
         {"", "[]", "{}", R"({"schema": "stemma.numerics/1"})",
          R"({"schema": "stemma.numerics/1", "modules": [{}]})",
          R"({"schema": "stemma.numerics/1", "modules": [{"module": 1, "verdict": "adds"}]})"}) {
        INFO(text);
        CHECK_THROWS_AS(stemma::plan_for_report(small_model(), folder.make("a.json", text)),
                        stemma::error);
    }
}

} // namespace test::plan_precision_plan
