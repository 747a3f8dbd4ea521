// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/inlined_name.hpp>

#include "../../catch.hpp"
#include "../../evidence_scene.hpp"
#include "../../wire_builder.hpp"

#include <stemma/evidence/scope_names.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_inlined_name {

using stemma::scope_names;
using texts = std::vector<std::string>;

TEST_CASE("is_reshaped_name: names of a Reshape before a product") {
    for (const char* name : {"gemm_input_reshape", "gemm_input_reshape_token_2",
                             "gemm_0_pre_reshape", "fc_pre_reshape"}) {
        CHECK(stemma::detail::is_reshaped_name(name));
    }
    for (const char* name : {"", "gemm_0_post_reshape", "reshape", "gemm_output_reshape"}) {
        CHECK_FALSE(stemma::detail::is_reshaped_name(name));
    }
}

TEST_CASE("find_inlined_scope: calls of one function are distinguished by results and weights") {
    test::evidence_scene scene(test::graph(
        {test::node("MatMul", {"x", "layer.0.fc.weight"}, {"_inlfunc_Layer_/fc/MatMul_output_0"},
                    "_inlfunc_Layer_/fc/MatMul"),
         test::node("Relu", {"_inlfunc_Layer_/fc/MatMul_output_0"}, {"/layer.0/act/Relu_output_0"},
                    "_inlfunc_Layer_/act/Relu"),
         test::node("MatMul", {"/layer.0/act/Relu_output_0", "folded"},
                    {"_inlfunc_Layer_token_1_/fc/MatMul_output_0"},
                    "_inlfunc_Layer_token_1_/fc/MatMul"),
         test::node("Relu", {"_inlfunc_Layer_token_1_/fc/MatMul_output_0"},
                    {"/layer.1/act/Relu_output_0"}, "_inlfunc_Layer_token_1_/act/Relu"),
         test::node("Neg", {"/layer.1/act/Relu_output_0"}, {"y"}, "plain")},
        {"x"}, {"y"}, {"layer.0.fc.weight", "folded"}));
    CHECK(scene.paths<scope_names>("_inlfunc_Layer_/fc/MatMul") == texts{"layer.0.fc"});
    CHECK(scene.paths<scope_names>("_inlfunc_Layer_/act/Relu") == texts{"layer.0.act"});
    CHECK(scene.paths<scope_names>("_inlfunc_Layer_token_1_/fc/MatMul") == texts{"layer.1.fc"});
    CHECK(scene.paths<scope_names>("_inlfunc_Layer_token_1_/act/Relu") == texts{"layer.1.act"});
    CHECK_FALSE(stemma::detail::find_inlined_scope(scene.ops(), scene.node("plain")));
}

TEST_CASE("find_inlined_scope: indistinguishable calls have no scope") {
    test::evidence_scene scene(
        test::graph({test::node("Relu", {"x"}, {"a"}, "_inlfunc_Act_/act/Relu"),
                     test::node("Relu", {"a"}, {"y"}, "_inlfunc_Act_token_2_/act/Relu")},
                    {"x"}, {"y"}));
    const auto scope =
        stemma::detail::find_inlined_scope(scene.ops(), scene.node("_inlfunc_Act_/act/Relu"));
    REQUIRE(scope);
    CHECK_FALSE(*scope);
    CHECK(scene.modules().size() == 1);
}

TEST_CASE("transposes_layout: a Transpose with a number of ONNX Runtime's") {
    CHECK(stemma::detail::transposes_layout("Transpose_token_12"));
    CHECK_FALSE(stemma::detail::transposes_layout("Transpose_12"));
    CHECK_FALSE(stemma::detail::transposes_layout("/fc/Transpose_token_12"));
}

} // namespace test::evidence_detail_inlined_name
