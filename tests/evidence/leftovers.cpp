// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/leftovers.hpp>

#include "../catch.hpp"
#include "../evidence_scene.hpp"
#include "../model_with_metadata.hpp"
#include "../operator_scene.hpp"

#include <stemma/evidence/parameter_names.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::evidence_leftovers {

using stemma::leftovers;
using texts = std::vector<std::string>;

namespace {

/// A model whose operators have these types and names, in order.
std::string named(const std::vector<std::pair<std::string, std::string>>& operators,
                  const std::vector<std::string>& parameters = {}) {
    std::vector<test::message> nodes;
    std::string from = "x";
    for (std::size_t i = 0; i < operators.size(); ++i) {
        std::vector<std::string> inputs{from};
        if (i == 0) {
            inputs.insert(inputs.end(), parameters.begin(), parameters.end());
        }
        test::names in(inputs.begin(), inputs.end());
        const auto to = "v" + std::to_string(i);
        nodes.push_back(test::node(operators[i].first, in, {to}, operators[i].second));
        from = to;
    }
    return test::model(test::graph(nodes, {"x"}, {from}, {parameters.begin(), parameters.end()}))
        .bytes();
}

/// The modules of a convolution with this name in which an activation was fused.
texts activated(const char* name, const stemma::module_tree& modules) {
    const auto conv = test::node("Conv", {"x"}, {"v"}, name)
                          .text(7, "com.microsoft.nchwc")
                          .inner(5, test::message().text(1, "activation").text(4, "any"));
    test::evidence_scene scene(test::model(test::graph({conv}, {"x"}, {"v"})).bytes(), modules);
    return scene.paths<leftovers>(name);
}

} // namespace

TEST_CASE("leftovers: names that runtimes give to fused operators keep the module of one") {
    // The operators that keep their names reveal the modules.
    const std::vector<std::pair<std::string, std::string>> operators{
        {"Relu", "/enc/norm/Relu"},
        {"LayerNormalization", "/enc/norm/Pow/LayerNormFusion/"},
        {"FusedConv", "fused /enc/conv/Conv"},
        {"Gemm", "/enc/dense/MatMul/MatMulAddFusion"},
        {"Mul", "_inlfunc_Gelu_/enc/act/Mul"},
        {"Relu", "/enc/conv/Relu"},
        {"Relu", "/enc/dense/Relu"},
        {"Relu", "/enc/act/Relu"}};
    test::evidence_scene scene(named(operators));
    CHECK(scene.paths<leftovers>(operators[1].second) == texts{"enc.norm"});
    CHECK(scene.paths<leftovers>(operators[2].second) == texts{"enc.conv"});
    CHECK(scene.paths<leftovers>(operators[3].second) == texts{"enc.dense"});
    CHECK(scene.claims<leftovers>(operators[0].second).empty());
    for (const auto& one : scene.claims<leftovers>(operators[1].second)) {
        CHECK(one.exact);
        CHECK(one.confidence < 0.9F);
        CHECK(one.source == stemma::provenance::leftover);
    }
}

TEST_CASE("leftovers: joined names are a guess, unless a parameter is of a module below") {
    const std::string guess = "net/b/act/Relu_net/b/bn/FusedBatchNormV3_net/b/conv/Conv2D";
    const std::string read = "net/b/act/Relu_net/b/conv/Conv2D";
    test::evidence_scene scene(
        test::graph({test::node("Relu", {"x"}, {"y"}, guess),
                     test::node("Conv", {"y", "net.b.conv.weight"}, {"z"}, read)},
                    {"x"}, {"z"}, {"net.b.conv.weight"}));
    CHECK(scene.paths<leftovers>(guess) == texts{"net.b"});
    CHECK(scene.claims<leftovers>(guess).at(0).confidence <= 0.5F);
    CHECK(scene.paths<leftovers>(read) == texts{"net.b.conv"});
    CHECK(scene.modules().size() == 4);
}

TEST_CASE("leftovers: an operator fused from several modules belongs to their common ancestor") {
    test::evidence_scene scene(named({{"FusedConv", "fused /enc/conv/Conv"},
                                      {"Relu", "/enc/conv/Relu"},
                                      {"Relu", "/enc/bn/Relu"}},
                                     {"enc.conv.weight", "enc.bn.bias"}));
    CHECK(scene.paths<leftovers>("fused /enc/conv/Conv") == texts{"enc"});
}

TEST_CASE("leftovers: the name of a result shows what was fused at the end") {
    auto graph = test::graph(
        {test::node("FusedConv", {"x"}, {"/b/act/Relu_output_0"}, "/b/conv/Conv"),
         test::node("BiasGelu", {"/b/act/Relu_output_0", "b.fc.bias"}, {"/b/gelu/Mul_output_0"},
                    "BiasGelu"),
         test::node("Conv", {"/b/gelu/Mul_output_0"}, {"/b/last/Conv_output_0"}, "/b/last/Conv")},
        {"x"}, {"/b/last/Conv_output_0"}, {"b.fc.bias"});
    test::evidence_scene scene(graph);
    CHECK(scene.paths<leftovers>("/b/conv/Conv") == texts{"b"});
    CHECK(scene.paths<leftovers>("BiasGelu") == texts{"b"});
    CHECK(scene.claims<leftovers>("/b/last/Conv").empty());
    CHECK(scene.paths<stemma::scope_names>("/b/last/Conv") == texts{"b.last"});
}

TEST_CASE("leftovers: an activation that a runtime fused is another module's") {
    const auto conv = [](bool activation, const char* name) {
        auto node = test::node("Conv", {"x"}, {"v"}, name);
        node.text(7, "com.microsoft.nchwc");
        if (activation) {
            node.inner(5, test::message().text(1, "activation").text(4, "Relu"));
        }
        return test::model(test::graph({node}, {"x"}, {"v"})).bytes();
    };
    test::evidence_scene joined(conv(true, "/b/conv/Conv_output_0_nchwc"));
    CHECK(joined.paths<leftovers>("/b/conv/Conv_output_0_nchwc") == texts{"b"});
    test::evidence_scene alone(conv(false, "/b/conv/Conv_output_0_nchwc"));
    CHECK(alone.paths<leftovers>("/b/conv/Conv_output_0_nchwc") == texts{"b.conv"});
}

TEST_CASE("leftovers: what a builder wrote as a fusion belongs to the module in its name") {
    const auto module_of = [](const char* name) {
        const auto sum =
            test::node("SkipLayerNormalization", {"x", "y", "b.norm.weight"}, {"v"}, name)
                .text(7, "com.microsoft");
        auto graph = test::graph({sum}, {"x", "y"}, {"v"});
        graph.inner(5, test::tensor("b.norm.weight", {1}, "four"));
        test::evidence_scene scene(graph);
        return scene.paths<leftovers>(name);
    };
    CHECK(module_of("/b/norm/SkipLayerNorm") == texts{"b.norm"});
    CHECK(module_of("/b/norm/Add/SkipLayerNormFusion/") == texts{"b"});
}

TEST_CASE("leftovers: a normalization that also returns a sum belongs to the ancestor of both") {
    const auto make = [](const test::names& out) {
        const auto skip = test::node("SkipLayerNormalization", {"x", "y", "b.1.norm.weight"}, out,
                                     "SkipLayerNorm_0")
                              .text(7, "com.microsoft");
        auto graph = test::graph({skip, test::node("Relu", {"n"}, {"z"}, "/b.1/act/Relu")},
                                 {"x", "y"}, {"z"});
        graph.inner(5, test::tensor("b.1.norm.weight", {1}, "four"));
        return test::model(graph).bytes();
    };
    for (const char* result : {"/b.1/norm/LayerNormalization_output_0", "n"}) {
        test::evidence_scene scene(make({result, "", "", "/b.0/Add_output_0"}));
        CHECK(scene.paths<leftovers>("SkipLayerNorm_0") == texts{"b"});
        CHECK(scene.paths<stemma::parameter_names>("SkipLayerNorm_0") == texts{"b"});
    }
    test::evidence_scene scene(make({"/b.1/norm/LayerNormalization_output_0"}));
    CHECK(scene.paths<leftovers>("SkipLayerNorm_0") == texts{"b.1"});
}

TEST_CASE("leftovers: an attention without names is around the projection of its result") {
    test::evidence_scene scene(
        test::graph({test::node("Relu", {"x"}, {"a"}, "/b.0/act/Relu"),
                     test::node("Attention", {"a", "w"}, {"c"}, "Attention_0"),
                     test::node("DynamicQuantizeLinear", {"c"}, {"q"}, "c_quantized"),
                     test::node("MatMul", {"q", "w"}, {"y"}, "/b.1/attention/out/MatMul")},
                    {"x"}, {"y"}, {"w"}));
    for (const char* name : {"Attention_0", "c_quantized"}) {
        CHECK(scene.paths<leftovers>(name) == texts{"b.1.attention"});
        CHECK_FALSE(scene.claims<leftovers>(name).at(0).exact);
    }
}

TEST_CASE("leftovers: a quantizer follows all that its operator was fused from") {
    test::evidence_scene scene(test::graph(
        {test::node("BiasGelu", {"x", "b.fc.bias"}, {"g"}, "BiasGelu_0").text(7, "com.microsoft"),
         test::node("DynamicQuantizeLinear", {"g"}, {"q"}, "g_quantized"),
         test::node("MatMul", {"q", "w"}, {"y"}, "/b/out/MatMul")},
        {"x"}, {"y"}, {"b.fc.bias", "w"}));
    CHECK(scene.paths<leftovers>("g_quantized") == texts{"b"});
}

TEST_CASE("leftovers: the name of a fused activation shows whether it is a module") {
    const auto module_of = [](const char* name) {
        const auto conv = test::node("Conv", {"x"}, {"v"}, name)
                              .text(7, "com.microsoft.nchwc")
                              .inner(5, test::message().text(1, "activation").text(4, "any"));
        test::evidence_scene scene(test::graph({conv}, {"x"}, {"v"}));
        return scene.paths<leftovers>(name);
    };
    CHECK(module_of("/b/relu_1/Relu_output_0_nchwc") == texts{"b"});
    CHECK(module_of("/b/b.2/Relu_output_0_nchwc") == texts{"b"});
    CHECK(module_of("/b/leaky_1/LeakyRelu_output_0_nchwc") == texts{"b"});
    CHECK(module_of("/b/branch/Relu_output_0_nchwc") == texts{"b.branch"});
    CHECK(module_of("/b/le/LeakyRelu_output_0_nchwc") == texts{"b.le"});
}

TEST_CASE("leftovers: so does its class") {
    const auto module_with = [](const char* class_name) {
        return activated("/b/gate/HardSigmoid_output_0_nchwc",
                         test::tree_of({std::string("b.gate:app.") + class_name}));
    };
    CHECK(module_with("Hardsigmoid") == texts{"b"});
    CHECK(module_with("Branch") == texts{"b.gate"});
}

TEST_CASE("leftovers: a fused activation that is owned elsewhere is in the module that calls it") {
    stemma::module_tree_builder builder;
    builder.set_calls(builder.at_path("a"), 1);
    builder.set_calls(builder.at_path("b"), 1);
    builder.set_calls(builder.at_path("a.act"), 2);
    CHECK(activated("/b/act/Relu_output_0_nchwc", builder.build()) == texts{"b"});
}

TEST_CASE("leftovers: an operator fused with one of its own module stays there") {
    const auto sum = test::node("FusedGemm", {"x"}, {"/b/fc/Relu_output_0"}, "fused /b/fc/Gemm")
                         .text(7, "com.microsoft")
                         .inner(5, test::message().text(1, "activation").text(4, "Relu"));
    test::evidence_scene scene(test::graph({sum}, {"x"}, {"/b/fc/Relu_output_0"}));
    CHECK(scene.paths<leftovers>("fused /b/fc/Gemm") == texts{"b.fc"});
}

TEST_CASE("leftovers: a convolution fused with a skip connection belongs to the ancestor of both") {
    const auto conv = [](const test::names& in, const char* out, const char* name) {
        return test::node("Conv", in, {out}, name).text(7, "com.microsoft.nchwc");
    };
    test::evidence_scene scene(test::graph(
        {conv({"x", "w0"}, "a", "/b/stem/Conv_output_0_nchwc"),
         conv({"a", "w1"}, "c", "/b/b.1/steps/steps.0/Conv_output_0_nchwc"),
         conv({"c", "w2", "bias", "a"}, "d", "/b/b.1/steps/steps.1/Conv_output_0_nchwc")},
        {"x"}, {"d"}, {"w0", "w1", "w2", "bias"}));
    CHECK(scene.paths<leftovers>("/b/b.1/steps/steps.0/Conv_output_0_nchwc") ==
          texts{"b.1.steps.0"});
    CHECK(scene.paths<leftovers>("/b/b.1/steps/steps.1/Conv_output_0_nchwc") == texts{"b.1"});
}

TEST_CASE("leftovers: an unnamed convolution is somewhere in the caller of its neighbours") {
    const auto* const type = GENERATE("Conv", "Upsample");
    const auto conv = [&](const char* in, const char* out, const char* name) {
        return test::node(type, {in, "lost"}, {out}, name).text(7, "com.microsoft.nchwc");
    };
    test::evidence_scene scene(test::graph(
        {test::node("Relu", {"x"}, {"a"}, "/head/act/Relu"),
         test::node("ReorderInput", {"a"}, {"r"}, "ReorderInput_token_1"),
         conv("r", "c", "307_nchwc"), test::node("ReorderOutput", {"c"}, {"307"}, "ReorderOutput")},
        {"x"}, {"307"}, {"lost"}));
    CHECK(scene.paths<leftovers>("307_nchwc") == texts{"/"});
    CHECK(scene.paths<leftovers>("ReorderOutput") == texts{"/"});
}

TEST_CASE("leftovers: a Reshape behind a product belongs there") {
    test::evidence_scene scene(
        test::graph({test::node("Gemm", {"x", "w"}, {"g"}, "/b/fc/MatMul/MatMulAddFusion"),
                     test::node("Reshape", {"g", "s"}, {"307"}, "gemm_output_reshape_token_1")},
                    {"x"}, {"307"}, {"w", "s"}));
    CHECK(scene.paths<leftovers>("gemm_output_reshape_token_1") == texts{"b.fc"});
}

TEST_CASE("leftovers: the pieces of a call or product stay together") {
    test::evidence_scene scene(
        test::graph({test::node("Relu", {"x"}, {"a"}, "/b/fc/Relu"),
                     test::node("HardSigmoid", {"a"}, {"_inlfunc_HardSwish_HS_X"}, "inner"),
                     test::node("Mul", {"a", "_inlfunc_HardSwish_HS_X"},
                                {"/b/act/HardSwish_output_0"}, "outer"),
                     test::node("Reshape", {"/b/act/HardSwish_output_0", "shape"}, {"flat"},
                                "gemm_input_reshape_token_2"),
                     test::node("Gemm", {"flat", "w"}, {"y"}, "/c/fc/MatMul/MatMulAddFusion")},
                    {"x"}, {"y"}, {"shape", "w"}));
    CHECK(scene.paths<leftovers>("inner") == texts{"b.act"});
    CHECK(scene.paths<leftovers>("gemm_input_reshape_token_2") == texts{"c.fc"});
}

TEST_CASE("leftovers: a Reshape for a product without a scope belongs to the owner of the weight") {
    test::evidence_scene scene(
        test::graph({test::node("Reshape", {"x", "shape"}, {"a"}, "gemm_0_pre_reshape"),
                     test::node("Gemm", {"a", "b.fc.weight"}, {"b"}, "gemm_0"),
                     test::node("Reshape", {"b", "shape"}, {"c"}, "flatten"),
                     test::node("Gemm", {"c", "c.fc.weight"}, {"y"}, "gemm_1")},
                    {"x"}, {"y"}, {"shape", "b.fc.weight", "c.fc.weight"}));
    CHECK(scene.paths<leftovers>("gemm_0_pre_reshape") == texts{"b.fc"});
    CHECK(scene.claims<leftovers>("flatten").empty());
}

TEST_CASE("leftovers: layout conversions belong where the data come from") {
    test::evidence_scene scene(
        test::graph({test::node("Conv", {"x"}, {"v"}, "/b/conv/Conv"),
                     test::node("ReorderOutput", {"v"}, {"w"}, "ReorderOutput_token_3"),
                     test::node("Relu", {"w"}, {"y"}, "/c/act/Relu")},
                    {"x"}, {"y"}));
    CHECK(scene.paths<leftovers>("ReorderOutput_token_3") == texts{"b.conv"});

    // Unless they transpose for somebody else.
    test::evidence_scene transposing(test::graph(
        {test::node("Conv", {"x"}, {"v"}, "/b/conv/Conv_output_0_nchwc"),
         test::node("ReorderOutput", {"v"}, {"/b/Transpose_1_output_0"}, "ReorderOutput"),
         test::node("Relu", {"/b/Transpose_1_output_0"}, {"y"}, "/c/act/Relu")},
        {"x"}, {"y"}));
    CHECK(transposing.paths<leftovers>("ReorderOutput") == texts{"b"});
}

TEST_CASE("leftovers: so does a Reshape from or into the layout of a runtime") {
    const auto module_of = [](const char* from, const char* to) {
        test::evidence_scene scene(
            test::graph({test::node("Conv", {"x"}, {from}, "/b/conv/Conv"),
                         test::node("Reshape", {from, "shape"}, {to}, "Reshape"),
                         test::node("Relu", {to}, {"y"}, "/c/act/Relu")},
                        {"x", "shape"}, {"y"}));
        return scene.paths<leftovers>("Reshape");
    };
    CHECK(module_of("reorder_token_1", "v") == texts{"b.conv"});
    CHECK(module_of("reorder", "v") == texts{"b.conv"});
    CHECK(module_of("v", "reorder_token_1") == texts{"b.conv"});
    CHECK(module_of("v", "reordered").empty());
}

TEST_CASE("leftovers: a quantized product without metadata goes with its bias") {
    const auto metadata =
        test::dynamo({"", "fc", "linear"}, {"app.Net", "torch.nn.Linear", "aten.linear"});
    auto graph = test::graph(
        {test::node("MatMulNBits", {"x", "val_1_Q4"}, {"matmul"}, "node_matmul_Q4"),
         test::described(test::node("Add", {"matmul", "fc.bias"}, {"y"}, "node_linear"), metadata)},
        {"x"}, {"y"}, {"val_1_Q4", "fc.bias"});
    test::evidence_scene scene(graph);
    CHECK(scene.paths<leftovers>("node_matmul_Q4") == texts{"fc"});
    CHECK(scene.paths<leftovers>("node_linear").empty());
}

TEST_CASE("leftovers: what a quantizer inserted belongs where the data come from") {
    const auto of_layer = [](const char* path) {
        return test::dynamo({"", path, "op"}, {"app.Net", "app.Layer", "aten.op"});
    };
    const auto quantize = [](const char* type, const char* from, const char* to, const char* name) {
        return test::node(type, {from, "scale"}, {to}, name);
    };
    auto fused = of_layer("three");
    fused.emplace_back("pkg.onnxscript.rewriter.rule_name", "FuseReluClip");
    const auto bytes =
        test::model(
            test::graph(
                {test::node("Constant", {}, {"scale"}, "scale"),
                 quantize("QuantizeLinear", "x", "x_q", "x_QuantizeLinear"),
                 test::described(test::node("Conv", {"x_q"}, {"a"}, "node_a"), of_layer("one")),
                 quantize("QuantizeLinear", "a", "a_q", "a_QuantizeLinear"),
                 quantize("DequantizeLinear", "a_q", "a_d", "a_DequantizeLinear"),
                 test::described(quantize("QuantizeLinear", "a_d", "b", "node_b"), of_layer("two")),
                 test::described(test::node("Relu", {"b"}, {"c"}, "node_c"), fused),
                 quantize("QuantizeLinear", "c", "c_q", "c_QuantizeLinear"),
                 test::node("QLinearConv", {"c_q", "four.weight"}, {"d_q"}, "node_d_quant"),
                 quantize("DequantizeLinear", "d_q", "y", "d_DequantizeLinear")},
                {"x"}, {"y"}, {"four.weight"}),
            10)
            .bytes();
    test::evidence_scene scene(bytes);
    CHECK(scene.paths<leftovers>("a_QuantizeLinear") == texts{"one"});
    CHECK(scene.paths<leftovers>("a_DequantizeLinear") == texts{"one"});
    CHECK(scene.claims<leftovers>("x_QuantizeLinear").empty()); // behind no operator
    CHECK(scene.claims<leftovers>("node_b").empty());           // has metadata
    CHECK(scene.claims<leftovers>("c_QuantizeLinear").empty()); // behind several operators
    CHECK(scene.paths<leftovers>("d_DequantizeLinear") == texts{"four"});
    // No second witness beside other claims from parameters.
    CHECK(scene.claims<leftovers>("d_DequantizeLinear").front().source ==
          stemma::provenance::parameter);
    CHECK(scene.claims<leftovers>("a_QuantizeLinear").front().source ==
          stemma::provenance::leftover);
}

TEST_CASE("leftovers: what turns the results of a product of integers into numbers belongs to it") {
    test::evidence_scene scene(
        test::graph({test::node("MatMulInteger", {"x", "a.fc.weight"}, {"i"}, "product"),
                     test::node("Cast", {"i"}, {"f"}, "i_cast"),
                     test::node("Mul", {"f", "scale"}, {"r"}, "scaled"),
                     test::node("Mul", {"r", "scale"}, {"s"}, "other_product"),
                     test::node("Cast", {"s"}, {"t"}, "other_cast"),
                     test::node("Mul", {"t", "scale"}, {"y"}, "third_product")},
                    {"x", "scale"}, {"y"}, {"a.fc.weight"}));
    CHECK(scene.paths<leftovers>("i_cast") == texts{"a.fc"});
    CHECK(scene.paths<leftovers>("scaled") == texts{"a.fc"});
    for (const char* other : {"other_product", "other_cast", "third_product"}) {
        CHECK(scene.claims<leftovers>(other).empty());
    }
}

TEST_CASE("leftovers: a folded constant belongs where its origins belong") {
    const auto folded = [](const std::string& origin) {
        const auto info = test::value_info("c").inner(
            4, test::entry("pkg.onnxscript.optimizer.folded_from", origin));
        auto graph = test::graph({test::node("Constant", {}, {"c"}, "folded"),
                                  test::node("Add", {"x", "c"}, {"y"}, "add"),
                                  test::node("MatMul", {"y", "a.fc1.weight"}, {"z"}, "m1"),
                                  test::node("MatMul", {"z", "a.fc2.weight"}, {"w"}, "m2")},
                                 {"x"}, {"w"}, {"a.fc1.weight", "a.fc2.weight"});
        graph.inner(13, info);
        return test::model(graph, 10).bytes();
    };
    test::evidence_scene one(folded("['a.fc1.bias']"));
    CHECK(one.paths<leftovers>("folded") == texts{"a.fc1"});
    test::evidence_scene two(folded("['a.fc1.bias', 'a.fc2.bias']"));
    CHECK(two.paths<leftovers>("folded") == texts{"a"});
    test::evidence_scene damaged(folded("['a.fc1.bias"));
    CHECK(damaged.paths<leftovers>("folded").empty());
    test::evidence_scene unknown(folded("['val_3']"));
    CHECK(unknown.paths<leftovers>("folded").empty());
}

TEST_CASE("leftovers: operators of an inlined call belong where their readers do") {
    const auto inlined = [](const std::string& end) {
        return test::model(
                   test::graph({test::node("Neg", {"x"}, {"_inlfunc_f_a"}, "first"),
                                test::node("Erf", {"_inlfunc_f_a"}, {"_inlfunc_f_b"}, "second"),
                                test::node("Exp", {"_inlfunc_f_b"}, {"_inlfunc_f_c"}, "third"),
                                test::node("Relu", {"_inlfunc_f_c"}, {"y"}, end)},
                               {"x"}, {"y"}))
            .bytes();
    };
    test::evidence_scene named(inlined("/fc/act/Relu"));
    test::evidence_scene nameless(inlined("end"));
    for (const auto* name : {"first", "second", "third"}) {
        CHECK(named.paths<leftovers>(name) == texts{"fc.act"});
        CHECK(nameless.paths<leftovers>(name).empty());
    }
}

} // namespace test::evidence_leftovers
