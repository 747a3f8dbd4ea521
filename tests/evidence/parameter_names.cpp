// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/parameter_names.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace test::evidence_parameter_names {

using stemma::parameter_names;
using texts = std::vector<std::string>;

namespace {

std::vector<stemma::claim> claims_of(const stemma::module_tree& tree, const texts& parameters) {
    test::operator_scene ops;
    const auto v = ops.add();
    for (const auto& name : parameters) {
        ops.read_parameter(v, name);
    }
    stemma::evidence_context<test::operator_scene, stemma::module_tree> context(ops, tree);
    std::vector<stemma::claim> claims;
    parameter_names{}.prepare(context).for_each_claim(
        v, [&](const stemma::claim& one) { claims.push_back(one); });
    return claims;
}

texts paths_of(const stemma::module_tree& tree, const texts& parameters) {
    texts paths;
    for (const auto& one : claims_of(tree, parameters)) {
        paths.push_back(tree.path(one.module));
    }
    return paths;
}

} // namespace

TEST_CASE("parameter_names: claim the owner, but not as the deepest module") {
    const auto tree = test::tree_of({"enc.fc", "enc.norm"});
    const auto claims = claims_of(tree, {"enc.fc.weight"});
    REQUIRE(claims.size() == 1);
    CHECK(tree.path(claims[0].module) == "enc.fc");
    CHECK(claims[0].source == stemma::provenance::parameter);
    CHECK_FALSE(claims[0].exact);
    CHECK(claims[0].confidence > 0.5F);
}

TEST_CASE("parameter_names: claim nothing without a parameter that has an owner") {
    const auto tree = test::tree_of({"enc.fc"});
    CHECK(claims_of(tree, {}).empty());
    CHECK(claims_of(tree, {"onnx::MatMul_7", "scale"}).empty());
}

TEST_CASE("parameter_names: several parameters of one owner are one claim") {
    const auto tree = test::tree_of({"enc.fc", "enc.norm"});
    CHECK(paths_of(tree, {"enc.fc.weight", "enc.fc.bias"}) == texts{"enc.fc"});
    CHECK(paths_of(tree, {"enc.fc.weight", "onnx::Add_3"}) == texts{"enc.fc"});
    CHECK(paths_of(tree, {"enc.fc.weight", "enc.fc.weight"}) == texts{"enc.fc"});
}

TEST_CASE("parameter_names: parameters of several modules speak for their common ancestor") {
    const auto tree = test::tree_of({"enc.fc", "enc.norm", "head"});
    CHECK(paths_of(tree, {"enc.fc.weight", "enc.norm.bias"}) == texts{"enc"});
    CHECK(paths_of(tree, {"enc.fc.weight", "enc.norm.bias", "head.bias"}) == texts{""});
}

TEST_CASE("parameter_names: a tied parameter makes a claim for each owner") {
    stemma::module_tree_builder builder;
    builder.at_path("embed");
    builder.at_path("head");
    builder.at_path("tail");
    builder.add_shared_parameters({"embed.weight", "head.weight"});
    const auto tree = builder.build();
    CHECK(paths_of(tree, {"embed.weight"}) == texts{"embed", "head"});
    const auto claims = claims_of(tree, {"embed.weight"});
    CHECK(claims[0].confidence >
          claims[1].confidence); // the name in the file is the first reader's
    // Another parameter decides between them.
    CHECK(paths_of(tree, {"embed.weight", "head.bias"}) == texts{"head"});
    CHECK(paths_of(tree, {"embed.weight", "tail.bias"}) == texts{""});
}

namespace {

/// An operator that converts a parameter to another precision.
struct conversion : test::operator_scene {
    [[nodiscard]] static bool passes_parameter_on(std::size_t) { return true; }
};

std::size_t claims_of_conversion(const stemma::module_tree& tree, const std::string& parameter) {
    conversion ops;
    const auto v = ops.add();
    ops.read_parameter(v, parameter);
    stemma::evidence_context<conversion, stemma::module_tree> context(ops, tree);
    std::size_t count = 0;
    parameter_names{}.prepare(context).for_each_claim(v, [&](const stemma::claim&) { ++count; });
    return count;
}

} // namespace

TEST_CASE("parameter_names: say nothing about a conversion of what several modules own") {
    const auto tree = test::tree_of({"conv", "bn"});
    CHECK(claims_of_conversion(tree, "bn.bias") == 1);
    CHECK(claims_of_conversion(tree, "ConvBnFusion_BN_B_bn.bias") == 0);
    CHECK(claims_of(tree, {"ConvBnFusion_BN_B_bn.bias"}).size() == 1);
}

TEST_CASE("parameter_names: speak for the owner's nearest ancestor that ran") {
    stemma::module_tree_builder builder;
    builder.set_calls(builder.at_path("block"), 1);
    builder.set_calls(builder.at_path("block.weights"), 0);
    const auto tree = builder.build();
    CHECK(paths_of(tree, {"block.weights.w"}) == texts{"block"});
}

} // namespace test::evidence_parameter_names
