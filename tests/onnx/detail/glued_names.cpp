// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/glued_names.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/model_parameters.hpp>

#include <string>
#include <vector>

namespace test::onnx_detail_glued_names {

using stemma::id;
using test::node;
using names = std::vector<std::string>;

namespace {

/// Returns: the names of nodes, their results and the parameters; nothing if none is glued.
names found(const std::vector<test::message>& nodes, const names& parameters) {
    const test::built_model model(nodes, {"x"}, {}, parameters);
    const stemma::detail::model_parameters read(model);
    const stemma::detail::glued_names glued(model, read);
    names all;
    if (!glued.empty()) {
        for (id v = 0; v < model.node_count(); ++v) {
            all.emplace_back(glued.node(v));
        }
        for (id v = 0; v < model.node_count(); ++v) {
            all.emplace_back(glued.result(v));
        }
        for (id p = 0; p < read.count(); ++p) {
            all.emplace_back(glued.parameter(p));
        }
    }
    return all;
}

} // namespace

TEST_CASE("glued_names: a prefix of all names is removed") {
    CHECK(found({node("Gemm", {"x", "enc_fc.weight"}, {"enc_/fc/Gemm_output_0"}, "enc_/fc/Gemm"),
                 node("Add", {"enc_/fc/Gemm_output_0", "enc_scale"}, {"enc_12"}, "enc_/Add"),
                 node("Relu", {"enc_12"}, {"enc_y"}, "enc_Relu_3")},
                {"enc_fc.weight", "enc_scale", "enc_onnx::MatMul_7"}) ==
          names{"/fc/Gemm", "/Add", "Relu_3", "/fc/Gemm_output_0", "12", "y", //
                "fc.weight", "scale", "onnx::MatMul_7"});
}

TEST_CASE("glued_names: one of several prefixes names a module") {
    CHECK(found({node("Gemm", {"x", "a_fc.weight"}, {"a_y"}, "a_/fc/Gemm"),
                 node("Gemm", {"a_y", "a_b_fc.weight"}, {"a_b_y"}, "a_b_/fc/Gemm"),
                 node("Relu", {"a_b_y"}, {}, "/act/Relu")},
                {"a_fc.weight", "a_b_fc.weight", "fc.weight", "a_12"}) ==
          names{"/a_/fc/Gemm", "/a_b_/fc/Gemm", "/act/Relu", "y", "y", "", //
                "a_.fc.weight", "a_b_.fc.weight", "fc.weight", "12"});
}

TEST_CASE("glued_names: separators at the end of a prefix do not belong to the module") {
    CHECK(found({node("Gemm", {"x", "m./fc.weight"}, {"y"}, "m.//fc/Gemm"),
                 node("Relu", {"y"}, {"z"}, "/act/Relu")},
                {"m./fc.weight"}) == names{"/m/fc/Gemm", "/act/Relu", "y", "z", "m.fc.weight"});
}

TEST_CASE("glued_names: scopes that parameters spell out are no prefixes") {
    const auto gemm = [](const std::string& name, const std::string& weight) {
        return std::vector{node("Gemm", {"x", weight}, {"y"}, name)};
    };
    CHECK(found(gemm("/enc/fc/Gemm", "enc.fc.weight"), {"enc.fc.weight"}).empty());
    CHECK(found(gemm("enc/fc/Gemm", "enc.fc.weight"), {"enc.fc.weight"}).empty());
    CHECK(found(gemm("enc/fc/Gemm", "enc/fc/weight"), {"enc/fc/weight"}).empty());
    CHECK(found(gemm("enc/fc/Gemm", "enc_norm.weight"), {"enc_norm.weight"}).empty());
    CHECK(found(gemm("enc/Gemm", "encfc.weight"), {"encfc.weight"}).empty());
    CHECK(found(gemm("enc_fc_Gemm", "enc_fc.weight"), {"enc_fc.weight"}).empty());
    CHECK(found(gemm(".//fc/Gemm", ".fc.weight"), {".fc.weight"}).empty());
}

} // namespace test::onnx_detail_glued_names
