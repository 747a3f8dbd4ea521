// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/path_mapping.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <string_view>
#include <vector>

namespace test::evidence_detail_path_mapping {

using stemma::detail::find_path_mapping;
using stemma::detail::owner_path;
using paths = std::vector<std::string_view>;

TEST_CASE("owner_path: all but the last part, unless an exporter made the name up") {
    CHECK(owner_path("encoder.layer.0.weight") == "encoder.layer.0");
    CHECK(owner_path("weight").empty());
    CHECK(owner_path("").empty());
    CHECK(owner_path(".weight").empty());
    CHECK(owner_path("fc.").empty());
    CHECK(owner_path("onnx::MatMul_7.1").empty());
    CHECK(owner_path("/encoder/fc.0/Add_output_0").empty());
    CHECK(owner_path("encoder..weight").empty());
    CHECK(owner_path("..weight").empty());
    CHECK(owner_path("p2o.helper.constant.0").empty());
}

TEST_CASE("owner_path: an optimizer's prefix is not part of the path") {
    CHECK(owner_path("ConvBnFusion_W_layer1.0.conv1.weight") == "layer1.0.conv1");
    CHECK(owner_path("ConvBnFusion_BN_B_layer1.0.bn1.bias") == "layer1.0.bn1");
    CHECK(owner_path("ConvAddFusion_B_a.weight") == "a");
    CHECK(owner_path("InsertedPrecisionFreeCast_enc.fc.weight") == "enc.fc");
    CHECK(owner_path("InsertedCast_/enc/Add_output_0").empty());
    CHECK(owner_path("FusedBack_enc.fc.weight") == "enc.fc");
    CHECK(owner_path("FusedBack_InsertedPrecisionFreeCast_enc.fc.weight") == "enc.fc");
    CHECK(owner_path("my_Fusion_block.fc.weight") == "my_Fusion_block.fc");
    CHECK(owner_path("ConvAddFusion_Add_B_a.weight") == "a");
    CHECK(owner_path("ConvMulFusion_Mul_B_B_a.weight") == "B_a");
    CHECK(owner_path("Fusion_Net.fc.weight") == "Fusion_Net.fc");
    CHECK(owner_path("Fusion_block.fc.weight") == "Fusion_block.fc");
    CHECK(owner_path("MSFusion_head.fc.weight") == "MSFusion_head.fc");
    CHECK(owner_path("mid.Fusion_B_x.weight") == "mid.Fusion_B_x");
}

TEST_CASE("owner_path: a decimal point does not separate path segments") {
    CHECK(owner_path("const_-3.4028e+38_f32") == "");
    CHECK(owner_path("const_0.0_f32") == "");
    CHECK(owner_path("const_0.5") == "");
    CHECK(owner_path("0.5") == "");
    CHECK(owner_path("scales.0") == "scales");
    CHECK(owner_path("blocks.3.scales.0") == "blocks.3.scales");
    CHECK(owner_path("blocks.3.weight") == "blocks.3");
    CHECK(owner_path("enc.scale_2.0") == "enc.scale_2");
    CHECK(owner_path("enc.kernels.3x3") == "enc.kernels");
    CHECK(owner_path("enc.kernels.3_token_2") == "");
}

TEST_CASE("owner_path: tensors that training derives belong to the parameter's module") {
    CHECK(owner_path("fc.weight_grad") == "fc");
    CHECK(owner_path("fc.weight_grad.accumulation.buffer") == "fc");
    CHECK(owner_path("fc.weight_gradual") == "fc");
    CHECK(owner_path("enc.proj_grad.0.weight") == "enc.proj_grad.0");
    CHECK(owner_path("enc.edge_grad.lin.weight_grad") == "enc.edge_grad.lin");
    CHECK(owner_path("a/Conv2D;b/BiasAdd.weight") == "");
}

TEST_CASE("find_path_mapping: paths that lead to modules need no mapping") {
    const auto tree = test::tree_of({"enc.fc", "dec.fc"});
    const auto mapping = find_path_mapping(tree, paths{"enc.fc", "dec.fc", "dec.gone"});
    CHECK(mapping.is_identity());
    CHECK(mapping.paths == 3);
    CHECK(mapping.matched == 2);
    CHECK(find_path_mapping(tree, paths{}).is_identity());
}

TEST_CASE("find_path_mapping: a wrapper around the model is removed") {
    const auto tree = test::tree_of({"enc.fc", "dec.fc"});
    for (const auto* wrapper : {"module", "_orig_mod", "model.module"}) {
        std::vector<std::string> names{std::string(wrapper) + ".enc.fc",
                                       std::string(wrapper) + ".dec.fc"};
        const auto mapping = find_path_mapping(tree, paths(names.begin(), names.end()));
        CHECK(mapping.strip == wrapper);
        CHECK(mapping.base == 0);
        CHECK(mapping.matched == 2);
        CHECK(mapping.apply(names[0]) == "enc.fc");
        CHECK(mapping.apply("elsewhere.enc") == "elsewhere.enc");
        CHECK(mapping.apply(std::string(wrapper) + "s.enc") == std::string(wrapper) + "s.enc");
    }
}

TEST_CASE("find_path_mapping: a wrapper of some paths is found behind others if asked for") {
    const auto tree = test::tree_of({"enc.fc", "dec.fc"});
    const paths some{"loss.weighting", "model.enc.fc", "model.dec.fc"};
    CHECK(find_path_mapping(tree, some).matched == 0);
    const auto mapping = find_path_mapping(tree, some, true);
    CHECK(mapping.strip == "model");
    CHECK(mapping.matched == 2);
    CHECK(mapping.applies_to("model"));
    CHECK_FALSE(mapping.applies_to("models.enc"));
}

TEST_CASE("find_path_mapping: paths without the leading parts do not count for removing them") {
    const auto tree = test::tree_of({"enc.fc", "dec.fc"});
    const auto mapping = find_path_mapping(tree, paths{"ema.enc.fc", "enc.fc", "dec.fc"});
    CHECK(mapping.is_identity());
    CHECK(mapping.matched == 2);
}

TEST_CASE("find_path_mapping: a model that is part of the captured one starts there") {
    const auto tree = test::tree_of({"other.fc", "bert.enc.fc", "bert.enc.norm", "bert.head"});
    const auto mapping = find_path_mapping(tree, paths{"enc.fc", "enc.norm", "head"});
    CHECK(mapping.strip.empty());
    CHECK(mapping.base == test::module_at(tree, "bert"));
    CHECK(mapping.matched == 3);
}

TEST_CASE("find_path_mapping: paths that lead nowhere match nothing") {
    const auto tree = test::tree_of({"enc.fc"});
    const auto mapping = find_path_mapping(tree, paths{"x.y", "x.z"});
    CHECK(mapping.is_identity());
    CHECK(mapping.matched == 0);
    CHECK(mapping.paths == 2);
}

TEST_CASE("find_path_mapping: the simplest mapping wins a tie") {
    const auto tree = test::tree_of({"a.a.fc", "a.fc"});
    const auto mapping = find_path_mapping(tree, paths{"a.fc"});
    CHECK(mapping.is_identity());
}

} // namespace test::evidence_detail_path_mapping
