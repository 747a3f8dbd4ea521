// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/inlined_nodes.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../wire_builder.hpp"

#include <string>

namespace test::onnx_detail_inlined_nodes {

TEST_CASE("inlined_nodes: functions of folding and of torch's exporter in one model") {
    const std::string fc = "_inlfunc_app_Fc_a_fc_1_";
    const test::built_model model(
        {test::node("Neg", {"x"}, {"/b/Neg_output_0"}, "_inlfunc_F_/Neg"),
         test::node("Mul", {"/b/Neg_output_0", "a.fc.weight"}, {fc + "mul_1"}, fc + "mul_1"),
         test::node("Relu", {fc + "mul_1"}, {"y"}, "y")},
        {"x"}, {"y"}, {"a.fc.weight"});
    stemma::detail::late_inlined_nodes late;
    const auto& nodes = late.of(model);
    CHECK(nodes.calls.name(test::node_called(model, "_inlfunc_F_/Neg")) == "/b/Neg");
    const auto module = nodes.modules.find(test::node_called(model, fc + "mul_1"));
    REQUIRE(module);
    CHECK(module->scope == "a/fc");
    CHECK_FALSE(module->within);
    CHECK(&late.of(model) == &nodes);
}

} // namespace test::onnx_detail_inlined_nodes
