// SPDX-License-Identifier: Apache-2.0
#include <stemma/plan/placement.hpp>

#include "../catch.hpp"
#include "../numerics_scene.hpp"
#include "../opened_graph.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"
#include "../written_text.hpp"

#include <map>
#include <string>

namespace test::plan_placement {

namespace {

/// As ONNX Runtime's `VerifyEachNodeIsAssignedToAnEp` prints it.
const char* const log =
    "2026-01-01 00:00:00.1 [V:onnxruntime:, session_state.cc:1377 VerifyEachNodeIsAssignedToAnEp] "
    "Node placements\n"
    "2026-01-01 00:00:00.1 [V:onnxruntime:, session_state.cc:1383 VerifyEachNodeIsAssignedToAnEp]  "
    "Node(s) placed on [CUDAExecutionProvider]. Number of nodes: 2\n"
    "2026-01-01 00:00:00.1 [V:onnxruntime:, session_state.cc:1385 VerifyEachNodeIsAssignedToAnEp]  "
    " "
    "MatMul (/a/fc/MatMul)\n"
    "2026-01-01 00:00:00.1 [V:onnxruntime:, session_state.cc:186 CreateGraphInfo] Other (thing)\n"
    "2026-01-01 00:00:00.1 [V:onnxruntime:, session_state.cc:1385 VerifyEachNodeIsAssignedToAnEp]  "
    " "
    "FusedGelu (fused 1)\n"
    "2026-01-01 00:00:00.1 [V:onnxruntime:, session_state.cc:1383 VerifyEachNodeIsAssignedToAnEp]  "
    "Node(s) placed on [CPUExecutionProvider]. Number of nodes: 2\n"
    "  Relu (/a/act/Relu), Add (/b/Add)\n"
    "2026-01-01 00:00:00.2 [V:onnxruntime:, inference_session.cc:1 Initialize] done (really)\n";

const char* const profile = R"([
{"cat": "Session","pid": 1,"dur": 5,"ts": 1,"ph": "X","name": "model_loading","args": {}},
{"cat": "Node","dur": 5,"ts": 1,"ph": "X","name": "/a/fc/MatMul_kernel_time",
 "args": {"op_name": "MatMul","provider": "CUDAExecutionProvider"}},
{"cat": "Node","dur": 5,"ts": 1,"ph": "X","name": "/b/Add_kernel_time",
 "args": {"op_name": "Add","provider": "CPUExecutionProvider"}}])";

stemma::module_placement place(const stemma::attributed_model& opened, const char* text) {
    const test::scratch_folder folder;
    return stemma::place_modules(opened, folder.make("log", text));
}

} // namespace

TEST_CASE("placement: reads where modules run from a log") {
    const auto opened = test::in_memory(test::two_modules(), "two.onnx");
    const auto placement = place(opened, log);
    std::map<std::string, stemma::module_placement::counts> counts;
    for (stemma::id m = 0; m < placement.modules.size(); ++m) {
        counts.emplace(opened.modules().path(m), placement.modules[m]);
    }
    const std::string cpu = "CPUExecutionProvider";
    const std::string cuda = "CUDAExecutionProvider";
    CHECK(counts.at("") == stemma::module_placement::counts{{cpu, 2}, {cuda, 1}});
    CHECK(counts.at("a") == stemma::module_placement::counts{{cpu, 1}, {cuda, 1}});
    CHECK(counts.at("a.fc") == stemma::module_placement::counts{{cuda, 1}});
    CHECK(counts.at("b") == stemma::module_placement::counts{{cpu, 1}});
    CHECK(placement.unmatched == 1);
    CHECK(placement.unplaced == 0);
    const auto json = test::json_of(placement, opened);
    CHECK(json["schema"] == "stemma.placement/1");
    CHECK(json["modules"][0]["providers"][cpu] == 2);
}

TEST_CASE("placement: nodes of one name match one node of the log") {
    const auto bytes = test::model(test::graph({test::node("Relu", {"x"}, {"r"}, "n"),
                                                test::node("Relu", {"r"}, {"y"}, "n")},
                                               {"x"}, {"y"}))
                           .bytes();
    const auto opened = test::in_memory(bytes, "twice.onnx");
    const std::string twice = "Node placements\n"
                              "Node(s) placed on [CPUExecutionProvider]. Number of nodes: 2\n"
                              "  Relu (n), FusedGelu (gone)\n";
    CHECK(place(opened, twice.c_str()).unmatched == 1);
}

TEST_CASE("placement: an unnamed node of the log does not affect other nodes") {
    const auto bytes = test::model(test::graph({test::node("Relu", {"x"}, {"r"}, "n"),
                                                test::node("Tanh", {"r"}, {"t"}, "m"),
                                                test::node("Exp", {"t"}, {"y"})},
                                               {"x"}, {"y"}))
                           .bytes();
    const auto opened = test::in_memory(bytes, "unnamed.onnx");
    for (const auto* text :
         {"Node(s) placed on [CUDAExecutionProvider]. Number of nodes: 1\n  Relu (n)\n"
          "Node(s) placed on [CPUExecutionProvider]. Number of nodes: 2\n  Exp (), Exp ()\n",
          R"([{"name": "n_kernel_time", "args": {"provider": "CUDAExecutionProvider"}},
              {"name": "_kernel_time", "args": {"provider": "CPUExecutionProvider"}}])"}) {
        const auto placement = place(opened, text);
        CHECK(placement.modules[0] ==
              stemma::module_placement::counts{{"CUDAExecutionProvider", 1}});
        CHECK(placement.unmatched == (*text == '[' ? 1 : 2));
        CHECK(placement.unplaced == 2);
    }
}

TEST_CASE("placement: a single provider needs no list") {
    const auto opened = test::in_memory(test::two_modules(), "two.onnx");
    const auto placement =
        place(opened, "[V:onnxruntime:, session_state.cc:1380 VerifyEachNodeIsAssignedToAnEp]  All "
                      "nodes placed on [CPUExecutionProvider]. Number of nodes: 3\n");
    CHECK(placement.modules[0] == stemma::module_placement::counts{{"CPUExecutionProvider", 3}});
    CHECK(placement.unmatched == 0);
}

TEST_CASE("placement: reads it from a profile") {
    const auto opened = test::in_memory(test::two_modules(), "two.onnx");
    const auto placement = place(opened, profile);
    CHECK(placement.modules[0] == stemma::module_placement::counts{{"CPUExecutionProvider", 1},
                                                                   {"CUDAExecutionProvider", 1}});
    CHECK(placement.unplaced == 1);
}

TEST_CASE("placement: rejects other files") {
    const auto opened = test::in_memory(test::two_modules(), "two.onnx");
    for (const auto* text : {"", "hello (world)", "[]", "[{", R"([{"name": 1}])",
                             "Node(s) placed on [", "Node(s) placed on [X]. Number of nodes: 3"}) {
        INFO(text);
        CHECK_THROWS_AS(place(opened, text), stemma::error);
    }
}

} // namespace test::plan_placement
