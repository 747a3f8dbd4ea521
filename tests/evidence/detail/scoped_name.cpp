// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/scoped_name.hpp>

#include "../../catch.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace test::evidence_detail_scoped_name {

using stemma::detail::split_leftover_name;
using stemma::detail::split_scoped_name;

namespace {

/// The scope of a name, with its style in front; "-" if there is none.
std::string split(std::string_view name, std::string_view op_type) {
    const auto parts = split_scoped_name(name, op_type);
    constexpr std::string_view styles = "crt";
    return parts
               ? styles[static_cast<std::size_t>(parts->style)] + (":" + std::string(parts->scope))
               : "-";
}

std::string split_leftover(std::string_view name) {
    const auto parts = split_leftover_name(name);
    if (parts) {
        CHECK_FALSE(parts->exact);
    }
    return parts ? std::string(parts->scope) : "-";
}

} // namespace

TEST_CASE("split_scoped_name: splits names of torch's exporter") {
    CHECK(split("/encoder/layer.0/MatMul", "MatMul") == "c:encoder/layer.0");
    CHECK(split("/encoder/layer.0/MatMul_12", "MatMul") == "c:encoder/layer.0");
    CHECK(split("/Add", "Add") == "c:");
    CHECK(split("/Add_1", "Add") == "c:");
    CHECK(split("/fc_1/MatMul", "MatMul") == "c:fc_1");
}

TEST_CASE("split_scoped_name: splits names relative to the parent") {
    CHECK(split("model/layers.0/Add_node_7", "Add") == "r:model/layers.0");
    CHECK(split("model/Add_7", "Add") == "r:model");
    CHECK(split("model/Add", "Add") == "r:model");
}

TEST_CASE("split_scoped_name: splits scopes with classes") {
    CHECK(split("app.Net::/app.Block::layer.0/Add", "Add") == "t:app.Net::/app.Block::layer.0");
    CHECK(split("app.Net::/Add_4", "Add") == "t:app.Net::");
}

TEST_CASE("split_scoped_name: rejects names of other operators") {
    CHECK(split("", "Add") == "-");
    CHECK(split("Add_7", "Add") == "-");
    CHECK(split("/encoder/Mul", "Add") == "-");
    CHECK(split("/encoder/AddX", "Add") == "-");
    CHECK(split("/encoder/Add_", "Add") == "-");
    CHECK(split("/encoder/Add_1x", "Add") == "-");
    CHECK(split("/encoder/", "Add") == "-");
    CHECK(split("model/Add_node_x", "Add") == "-");
    CHECK(split("app.Net::x/Mul", "Add") == "-");
    CHECK(split("/encoder/Add", "") == "-");
}

TEST_CASE("split_leftover_name: finds what optimizers leave of a name") {
    CHECK(split_leftover("fused /layer1/conv1/Conv") == "layer1/conv1");
    CHECK(split_leftover("/encoder/dense/MatMul/MatMulAddFusion") == "encoder/dense");
    CHECK(split_leftover("/norm/Pow/LayerNormFusion/") == "norm");
    CHECK(split_leftover("_inlfunc_Gelu_/act/Mul") == "act");
    CHECK(split_leftover("fused _inlfunc_F_/conv/Conv") == "conv");
    CHECK(split_leftover("fused _inlfunc_aten_conv2d_n0") == "-");
    CHECK(split_leftover("/fc/MatMul_quant") == "fc");
    CHECK(split_leftover("enc/fc/MatMul") == "enc/fc");
    CHECK(split_leftover("InsertedPrecisionFreeCast_/fc/MatMul_output_0") == "fc");
    CHECK(split_leftover("InsertedCast_fc.weight") == "-");
    CHECK(split_leftover("InsertedCast_ConvMulFusion_Mul_B_/fc/fc.1/Constant_output_0") ==
          "fc/fc.1");
    CHECK(split_leftover("ConvMulFusion_Mul_B_fc/Mul") == "ConvMulFusion_Mul_B_fc");
}

TEST_CASE("is_fused_name: parameters fused from several") {
    CHECK(stemma::detail::is_fused_name("ConvBnFusion_BN_B_layer1.bn.bias"));
    CHECK(stemma::detail::is_fused_name("InsertedCast_ConvMulFusion_W_fc.weight"));
    CHECK_FALSE(stemma::detail::is_fused_name("InsertedCast_fc.weight"));
    CHECK_FALSE(stemma::detail::is_fused_name(""));
}

TEST_CASE("split_scoped_name: accepts lower-case operators, as TensorFlow writes") {
    CHECK(split("bert/embeddings/add", "Add") == "r:bert/embeddings");
    CHECK(split("bert/embeddings/add_1", "Add") == "r:bert/embeddings");
    CHECK(split("bert/embeddings/matmul__12", "MatMul") == "r:bert/embeddings");
    CHECK(split("/bert/embeddings/add", "Add") == "-");
}

TEST_CASE("split_scoped_name: gradients and joined names are not exact") {
    CHECK(split("/fc/Gemm_Grad/Gemm_2", "Gemm") == "-");
    CHECK(split("a/Conv2D;a/Conv", "Conv") == "-");
    CHECK(split("/odd;name/Conv", "Conv") == "c:odd;name");
    CHECK(split("/top_Gradient/Conv", "Conv") == "c:top_Gradient");
    CHECK(split("/fc/MatMul_Grad/Gemm/MatMulTransposeFusion/", "Gemm") == "-");
    CHECK(split("/conv_Grad/Relu", "Relu") == "c:conv_Grad");
    CHECK(split("/Net_Grad/Net_Grad.0/Relu", "Relu") == "c:Net_Grad/Net_Grad.0");
    CHECK(split("conv_Grad/Relu", "Relu") == "r:conv_Grad");
    CHECK(split("net/layers.0/conv_Grad/Relu", "Relu") == "r:net/layers.0/conv_Grad");
    for (const char* of : {"onnx::Gemm::4", "onnx::Add_12", "aten::linear", "net.fc.weight"}) {
        CHECK(split(std::string(of) + "_Grad/Sum", "Sum") == "-");
        CHECK(split_leftover(std::string(of) + "_Grad/AccumulateGrad/Sum") == "-");
    }
}

TEST_CASE("split_leftover_name: removes chains of runtimes' suffixes") {
    CHECK(split_leftover("/qk/MatMul/MatmulTransposeFusion//MatMulScaleFusion/") == "qk");
    CHECK(split_leftover("/conv1/Conv_output_0_nchwc") == "conv1");
    CHECK(split_leftover("/norm/BatchNormalization_output_0_bn_nchwc") == "norm");
    CHECK(split_leftover("/relu/Relu_output_0_nchwc_token_40") == "relu");
    CHECK(split_leftover("/fc/Gemm_Grad/ReduceSum_2") == "fc");
    CHECK(split_leftover("/fc/Gemm_output_0_DequantizeLinear/duplicated") == "fc");
    CHECK(split_leftover("/fc/Gemm_output_0_DequantizeLinear_1/duplicated_token_3") == "fc");
    CHECK(split_leftover("input_DequantizeLinear/duplicated_2") == "-");
    CHECK(split_leftover("fused app.Net::/app.Block::a/Conv") == "app.Net::/app.Block::a");
}

TEST_CASE("split_leftover_name: words of other frameworks are operators of a known type only") {
    const auto scope = [](std::string_view name, std::string_view type) {
        const auto parts = split_leftover_name(name, type);
        return parts ? std::string(parts->scope) : "-";
    };
    CHECK(scope("bert/norm/moments/mean", "ReduceMean") == "bert/norm/moments");
    CHECK(scope("bert/embeddings/range_range", "Range") == "bert/embeddings");
    CHECK(scope("conv2_1/x2/bn", "BatchNormalization") == "conv2_1/x2");
    CHECK(scope("bert/embeddings/add/y", "Constant") == "-");
    CHECK(scope("bert/embeddings/add", "") == "-");
    CHECK(scope("/encoder/layer", "Add") == "-");
    CHECK(scope("encoder/12", "Add") == "-");
}

TEST_CASE("split_leftover_name: names joined by `_` mean what contains all of them") {
    CHECK(split_leftover("a/conv/Conv2D;a/bn/FusedBatchNormV3;a/conv/BiasAdd") == "-");
    CHECK(split_leftover("a/conv/mul;a/conv/add") == "-");
    CHECK(split_leftover("a/Conv2D;b/Relu") == "-");
    CHECK(split_leftover("Conv2D;Relu") == "-");
    CHECK(split_leftover(";_a/Relu") == "-");
    CHECK(split_leftover("net/b/act/Relu6_net/b/bn/FusedBatchNormV3_net/b/conv/Conv2D") == "net/b");
    CHECK(split_leftover("net/b/act/Relu6_net/b/conv/depthwise_net/c/conv/Conv2D") == "net");
    CHECK(split_leftover("net/b/sub_net/conv/Conv2D") == "net/b/sub_net/conv");
    CHECK(split_leftover("net/b/_net/conv/Conv2D") == "net/b/_net/conv");
    CHECK(split_leftover("net/Relu_network/conv/Conv2D") == "net/Relu_network/conv");
    const auto parts = split_leftover_name("net/b/act/Relu6_net/b/conv/Conv2D");
    REQUIRE(parts);
    CHECK(parts->within);
}

TEST_CASE("split_leftover_name: rejects names without an operator's name") {
    CHECK(split_leftover("") == "-");
    CHECK(split_leftover("plain") == "-");
    CHECK(split_leftover("/") == "-");
    CHECK(split_leftover("/encoder/layer") == "-"); // a module
    CHECK(split_leftover("_inlfunc_Gelu") == "-");
    CHECK(split_leftover("MatMulAddFusion") == "-");
}

} // namespace test::evidence_detail_scoped_name
