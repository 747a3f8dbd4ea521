// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/printed_paths.hpp>

#include "../../catch.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace test::evidence_detail_printed_paths {

using stemma::detail::printed_paths;

namespace {

printed_paths read(const std::vector<std::string_view>& names,
                   const std::vector<std::string_view>& parameters) {
    printed_paths paths;
    for (auto name : names) {
        paths.add(name);
    }
    for (auto parameter : parameters) {
        paths.add_parameter(parameter);
    }
    paths.resolve();
    return paths;
}

std::string path_of(const printed_paths& paths, std::string_view name) {
    const auto* path = paths.find(name);
    return path == nullptr ? "none" : *path;
}

} // namespace

TEST_CASE("printed_paths: parameters tell what separated names and lists") {
    const std::vector<std::string_view> names{
        "torch_nn_modules_linear_Linear_layers_1_self_attn_q_proj_1_t_4",
        "app_Layer_layers_1_1_add_9",
        "app_Layer_layers_0_2_add_9",
        "torch_nn_modules_normalization_LayerNorm_layers_0_LayerNorm_1_mul_3",
        "torch_nn_modules_linear_Linear_getattr_L__self___head___2___1_t_84",
    };
    const auto paths =
        read(names, {"layers.1.self_attn.q_proj.bias", "layers.0.LayerNorm.weight", "head.2.bias"});
    CHECK(paths.any_known());
    CHECK(path_of(paths, names[0]) == "layers.1.self_attn.q_proj");
    CHECK(path_of(paths, names[1]) == "layers.1");
    CHECK(path_of(paths, names[2]) == "layers.0");
    CHECK(path_of(paths, names[3]) == "layers.0.LayerNorm");
    CHECK(path_of(paths, names[4]) == "head.2");
}

TEST_CASE("printed_paths: a module extends the path of its caller by one name or member") {
    const std::vector<std::string_view> names{
        "torch_nn_modules_linear_Linear_layers_1_self_attn_q_proj_1_t_4",
        "app_Attention_layers_1_self_attn_1_add_1",
        "app_Act_layers_1_act_fn_1_mul_5",
        "app_Block_blocks_0_1_add_1",
        "app_Block_blocks_1_1_add_1",
        "app_Act_blocks_1_act_1_mul_1",
        "app_Conv_conv_1_1_pad_1",
    };
    const auto paths = read(names, {"layers.1.norm.weight"});
    CHECK(path_of(paths, names[0]) == "layers.1.self_attn.q_proj");
    CHECK(path_of(paths, names[1]) == "layers.1.self_attn");
    CHECK(path_of(paths, names[2]) == "layers.1.act_fn");
    CHECK(path_of(paths, names[3]) == "blocks.0");
    CHECK(path_of(paths, names[4]) == "blocks.1");
    CHECK(path_of(paths, names[5]) == "blocks.1.act");
    CHECK(path_of(paths, names[6]) == "conv_1");
}

TEST_CASE("printed_paths: what is not counted as calls, or in no class, is not read") {
    const std::vector<std::string_view> names{
        "app_Net_stem_conv_3_scale", // there is no second call
        "aten_gelu_1_part",
        "app_Net_stem",
    };
    const auto paths = read(names, {"stem.conv.weight", "other.weight"});
    CHECK(path_of(paths, names[0]) == "stem.conv");
    CHECK(path_of(paths, names[1]) == "none");
    CHECK(path_of(paths, names[2]) == "none");
    CHECK(path_of(read({"app_Net_fc_3_x"}, {"stem.weight"}), "app_Net_fc_3_x") == "none");
    CHECK_FALSE(read({"app_Net_fc_1_x"}, {"stem.weight"}).any_known());
}

TEST_CASE("printed_paths: scopes have a level for a sequence that is called, not for a list") {
    const auto paths = read({"app_Head_head_1_x", "app_Block_layers_0_1_x"},
                            {"head.0.weight", "layers.0.fc.weight"});
    REQUIRE(path_of(paths, "app_Head_head_1_x") == "head");
    CHECK(paths.scope_of("head.0") == "head/head.0");
    CHECK(paths.scope_of("layers.0.fc") == "layers.0/fc");
    CHECK(paths.scope_of("grid.0.1") == "grid.0.1");
    CHECK(paths.scope_of("").empty());
}

} // namespace test::evidence_detail_printed_paths
