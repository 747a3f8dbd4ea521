// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/inlined_calls.hpp>

#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <optional>
#include <string>
#include <vector>

namespace test::onnx_detail_inlined_calls {

using stemma::wire_model;
using stemma::detail::inlined_calls;

namespace {

std::string model_of(const std::vector<test::message>& nodes, const test::names& weights = {}) {
    return test::model(test::graph(nodes, {"x"}, {"y"}, weights)).bytes();
}

std::optional<std::string> name_of(const std::string& bytes, std::string_view node) {
    const wire_model model(bytes);
    const inlined_calls calls(model);
    const auto name = calls.name(test::node_called(model, node));
    return name ? std::optional(std::string(*name)) : std::nullopt;
}

} // namespace

TEST_CASE("inlined_calls: a result of the call shows where the call was") {
    const auto bytes = model_of({
        test::node("Mul", {"x"}, {"_inlfunc_F_/Mul_output_0"}, "_inlfunc_F_/Mul"),
        test::node("Neg", {"_inlfunc_F_/Mul_output_0"}, {"/a/b/Neg_output_0"}, "_inlfunc_F_/b/Neg"),
        test::node("Neg", {"/a/b/Neg_output_0"}, {"y"}, "/Neg"),
    });
    CHECK(name_of(bytes, "_inlfunc_F_/Mul") == "/a/Mul");
    CHECK(name_of(bytes, "_inlfunc_F_/b/Neg") == "/a/b/Neg");
    CHECK_FALSE(name_of(bytes, "/Neg"));
}

TEST_CASE("inlined_calls: nested calls are found from enclosing and inner ones") {
    // Out contains Mid, which contains only In; only In reads a weight, only Out's result has a
    // name of the model.
    const auto around = model_of({
        test::node("Mul", {"x"}, {"_inlfunc_Mid_/in/Mul_output_0"}, "_inlfunc_In_/Mul"),
        test::node("Neg", {"_inlfunc_Mid_/in/Mul_output_0"}, {"_inlfunc_Out_/mid/Neg_output_0"},
                   "_inlfunc_Mid_/Neg"),
        test::node("Abs", {"_inlfunc_Out_/mid/Neg_output_0"}, {"/top/Abs_output_0"},
                   "_inlfunc_Out_/Abs"),
    });
    CHECK(name_of(around, "_inlfunc_In_/Mul") == "/top/mid/in/Mul");
    CHECK(name_of(around, "_inlfunc_Mid_/Neg") == "/top/mid/Neg");
    const auto inside = model_of(
        {
            test::node("Mul", {"x", "top.mid.0.in.weight"}, {"_inlfunc_Mid_/in/Mul_output_0"},
                       "_inlfunc_In_/Mul"),
            test::node("Neg", {"_inlfunc_Mid_/in/Mul_output_0"}, {"y"}, "_inlfunc_Mid_/Neg"),
        },
        {"top.mid.0.in.weight"});
    CHECK(name_of(inside, "_inlfunc_In_/Mul") == "/top/mid.0/in/Mul");
    CHECK(name_of(inside, "_inlfunc_Mid_/Neg") == "/top/mid.0/Neg");
}

TEST_CASE("inlined_calls: fused nodes show where the call was") {
    const auto bytes = model_of(
        {
            test::node("MatMul", {"x", "w"}, {"_inlfunc_F_/fc/MatMul_output_0"},
                       "_inlfunc_F_/fc/MatMul"),
            test::node("BiasGelu", {"_inlfunc_F_/fc/MatMul_output_0", "a.b.fc.bias"}, {"u"},
                       "BiasGelu", "com.microsoft"),
            test::node("FusedConv", {"u", "v"}, {"/c/act/Relu_output_0"},
                       "fused _inlfunc_G_/conv/Conv", "com.microsoft"),
            test::node("Relu", {"/c/act/Relu_output_0"}, {"/c/act/Relu_1_output_0"},
                       "_inlfunc_G_/act/Relu_1"),
        },
        {"w", "v", "a.b.fc.bias"});
    CHECK(name_of(bytes, "_inlfunc_F_/fc/MatMul") == "/a/b/fc/MatMul");
    CHECK_FALSE(name_of(bytes, "BiasGelu"));
    CHECK(name_of(bytes, "fused _inlfunc_G_/conv/Conv") == "/c/conv/Conv");
}

TEST_CASE("inlined_calls: a list called under another name repeats that") {
    const auto bytes = model_of({
        test::node("Conv", {"x"}, {"_inlfunc_F_token_1_/inc.0/Conv_output_0"},
                   "_inlfunc_F_token_1_/inc.0/Conv"),
        test::node("Relu", {"_inlfunc_F_token_1_/inc.0/Conv_output_0"},
                   {"/down/conv/conv.1/Relu_output_0"}, "_inlfunc_F_token_1_/inc.1/Relu"),
    });
    CHECK(name_of(bytes, "_inlfunc_F_token_1_/inc.0/Conv") == "/down/conv/conv.0/Conv");
}

TEST_CASE("inlined_calls: a product that became a Gemm between Reshapes is in the scope of both") {
    const auto bytes = model_of(
        {
            test::node("Gemm", {"x", "w", "blocks.0.fc1.bias"}, {"gemm_output_reshape_arg"},
                       "_inlfunc_fc1_/MatMul/MatMulAddFusion"),
            test::node("Reshape", {"gemm_output_reshape_arg", "s"},
                       {"_inlfunc_blocks_/fc1/Add_output_0"}, "gemm_output_reshape"),
            test::node("Erf", {"_inlfunc_blocks_/fc1/Add_output_0"}, {"_inlfunc_act_/Erf_output_0"},
                       "_inlfunc_act_/Erf"),
            test::node("Mul", {"_inlfunc_act_/Erf_output_0", "_inlfunc_blocks_/fc1/Add_output_0"},
                       {"_inlfunc_blocks_/act/Mul_output_0"}, "_inlfunc_act_/Mul"),
            test::node("Relu", {"_inlfunc_blocks_/act/Mul_output_0"}, {"y"}, "/Relu"),
        },
        {"w", "s", "blocks.0.fc1.bias"});
    CHECK(name_of(bytes, "_inlfunc_fc1_/MatMul/MatMulAddFusion") ==
          "/blocks.0/fc1/MatMul/MatMulAddFusion");
    CHECK(name_of(bytes, "gemm_output_reshape") == "/blocks.0/fc1/Add");
    CHECK(name_of(bytes, "_inlfunc_act_/Erf") == "/blocks.0/act/Erf");
}

TEST_CASE("inlined_calls: what reads a value of a call, reshaped or not, is within that") {
    const auto bytes = model_of(
        {
            test::node("Transpose", {"x"}, {"_inlfunc_attn_/Transpose_output_0"},
                       "_inlfunc_attn_/Transpose"),
            test::node("Reshape", {"_inlfunc_attn_/Transpose_output_0", "s"},
                       {"gemm_input_reshape_arg"}, "gemm_input_reshape"),
            test::node("Gemm", {"gemm_input_reshape_arg", "w", "layers.1.attn.out.bias"}, {"y"},
                       "_inlfunc_out_/MatMul/MatMulAddFusion"),
        },
        {"w", "s", "layers.1.attn.out.bias"});
    CHECK(name_of(bytes, "_inlfunc_attn_/Transpose") == "/layers.1/attn/Transpose");
}

TEST_CASE("inlined_calls: names of a single call may be complete, those of several are not") {
    const auto one = model_of({test::node("Relu", {"x"}, {"y"}, "_inlfunc_F_/a/Relu")});
    CHECK_FALSE(name_of(one, "_inlfunc_F_/a/Relu"));
    const auto two = model_of({test::node("Relu", {"x"}, {"u"}, "_inlfunc_F_/a/Relu"),
                               test::node("Relu", {"u"}, {"y"}, "_inlfunc_F_token_3_/a/Relu")});
    CHECK(name_of(two, "_inlfunc_F_/a/Relu") == "");
}

TEST_CASE("inlined_calls: an unnamed fused operator has its result's name, and contradictory calls "
          "terminate") {
    const auto bytes = model_of({
        test::node("BiasGelu", {"x"}, {"_inlfunc_F_/act/Mul_output_0"}, "BiasGelu"),
        test::node("Relu", {"_inlfunc_F_/act/Mul_output_0"}, {"/a/Relu_output_0"},
                   "_inlfunc_F_/Relu"),
    });
    CHECK(name_of(bytes, "BiasGelu") == "/a/act/Mul");
    const auto circle = model_of({
        test::node("Relu", {"x"}, {"_inlfunc_G_/a/Relu_output_0"}, "_inlfunc_F_/Relu"),
        test::node("Relu", {"_inlfunc_G_/a/Relu_output_0"}, {"_inlfunc_F_/b/Relu_output_0"},
                   "_inlfunc_G_/Relu"),
    });
    CHECK_FALSE(name_of(circle, "_inlfunc_F_/Relu"));
}

} // namespace test::onnx_detail_inlined_calls
