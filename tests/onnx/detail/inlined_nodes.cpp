// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/inlined_nodes.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../wire_builder.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace test::onnx_detail_inlined_nodes {

namespace {

std::string scope_of(const std::vector<test::message>& nodes, const test::names& weights,
                     std::string_view node) {
    const test::built_model model(nodes, {"x"}, {"y"}, weights);
    const stemma::detail::inlined_modules modules(model);
    const auto module = modules.find(test::node_called(model, node));
    return !module ? "none" : std::string(module->scope) + (module->within ? " or below" : "");
}

} // namespace

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

TEST_CASE("inlined_modules: values of a module's function are made and read there or below") {
    const std::string block = "_inlfunc_app_Block_blocks_0_1_";
    const std::string transposed = "_inlfunc_torch_nn_Linear_blocks_0_fc_1_t_1";
    const std::vector<test::message> nodes{
        test::node("Gemm", {"x", transposed, "blocks.0.fc.bias"}, {block + "addmm_2"},
                   "_inlfunc_aten_addmm_token_3_n0"),
        test::node("Relu", {block + "addmm_2"}, {block + "relu_3"}, "_inlfunc_aten_relu_n0"),
        test::node("Mul", {block + "relu_3", block + "relu_3"}, {"y"}, block + "Mul_4"),
    };
    const test::names weights{"blocks.0.fc.bias", transposed};
    CHECK(scope_of(nodes, weights, "_inlfunc_aten_addmm_token_3_n0") == "blocks.0/fc or below");
    CHECK(scope_of(nodes, weights, "_inlfunc_aten_relu_n0") == "blocks.0 or below");
    CHECK(scope_of(nodes, weights, block + "Mul_4") == "blocks.0");
}

TEST_CASE("inlined_modules: nodes of one call are in one module; those of no module in any") {
    const std::string block = "_inlfunc_app_Block_blocks_0_1_";
    const std::vector<test::message> nodes{
        test::node("Neg", {"x"}, {"u"}, "_inlfunc_aten_neg_n0"),
        test::node("Erf", {"u"}, {"_inlfunc_aten_gelu_erf"}, "_inlfunc_aten_gelu_n1"),
        test::node("Add", {"_inlfunc_aten_gelu_erf", "u"}, {block + "gelu_2"},
                   "_inlfunc_aten_gelu_n2"),
        test::node("Mul", {block + "gelu_2", "blocks.0.scale"}, {"y"}, "mul"),
    };
    CHECK(scope_of(nodes, {"blocks.0.scale"}, "_inlfunc_aten_gelu_n1") == "blocks.0 or below");
    CHECK(scope_of(nodes, {"blocks.0.scale"}, "mul") == "blocks.0 or below");
    CHECK(scope_of(nodes, {"blocks.0.scale"}, "_inlfunc_aten_neg_n0") == " or below");
    // Without a known path the names may be those of anything.
    CHECK(scope_of(nodes, {"scale"}, "_inlfunc_aten_gelu_n1") == "none");
}

TEST_CASE("inlined_modules: where equal operators of two modules were merged, their ancestor") {
    const std::string first = "_inlfunc_app_Fc_blocks_0_fc1_1_";
    const std::string second = "_inlfunc_app_Fc_blocks_0_fc2_1_";
    const std::vector<test::message> nodes{
        test::node("Neg", {"x"}, {"_inlfunc_aten_mask_u"}, "_inlfunc_aten_mask_n0"),
        test::node("Mul", {"_inlfunc_aten_mask_u", "blocks.0.fc1.weight"}, {first + "mul_1"}, "a"),
        test::node("Mul", {"_inlfunc_aten_mask_u", "blocks.0.fc2.weight"}, {second + "mul_1"}, "b"),
        test::node("Add", {first + "mul_1", second + "mul_1"}, {"y"}, "c"),
    };
    const test::names weights{"blocks.0.fc1.weight", "blocks.0.fc2.weight"};
    CHECK(scope_of(nodes, weights, "_inlfunc_aten_mask_n0") == "blocks.0 or below");
    CHECK(scope_of(nodes, weights, "a") == "blocks.0/fc1 or below");
}

} // namespace test::onnx_detail_inlined_nodes
