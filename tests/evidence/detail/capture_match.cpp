// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/capture_match.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <string>
#include <vector>

namespace test::evidence_detail_capture_match {

namespace {

/// Named operators; the first ones read parameters.
test::operator_scene operators(const std::vector<std::string>& parameters,
                               const std::vector<std::string>& names = {"MatMul_0"}) {
    test::operator_scene ops;
    for (const auto& name : names) {
        ops.add({}, name);
    }
    for (const auto& parameter : parameters) {
        ops.read_parameter(0, parameter);
    }
    return ops;
}

bool are_foreign(const test::operator_scene& ops, const stemma::module_tree& modules) {
    return stemma::detail::match_capture(ops, modules).is_foreign();
}

const std::vector<std::string> encoder{"enc.0.fc.weight", "enc.1.fc.weight", "enc.2.fc.weight",
                                       "enc.3.fc.weight"};

} // namespace

TEST_CASE("match_capture: modules that hardly any parameter leads to are another model's") {
    CHECK(are_foreign(operators(encoder), test::tree_of({"conv1", "layer1.0.conv1", "head"})));
    CHECK_FALSE(are_foreign(operators(encoder), test::tree_of({"enc.0.fc", "enc.1.fc", "head"})));
}

TEST_CASE("match_capture: a wrapper around the model, or an exported part, is not another model") {
    CHECK_FALSE(are_foreign(operators(encoder), test::tree_of({"model.enc.0.fc", "model.head"})));
    std::vector<std::string> wrapped;
    for (const auto& name : encoder) {
        wrapped.push_back("module." + name);
    }
    CHECK_FALSE(are_foreign(operators(wrapped), test::tree_of({"enc.0.fc", "enc.1.fc"})));
}

TEST_CASE("match_capture: names that an optimizer derived from parameters count as theirs") {
    std::vector<std::string> folded;
    for (const auto& name : encoder) {
        folded.push_back("ConvBnFusion_W_" + name);
    }
    CHECK_FALSE(are_foreign(operators(folded), test::tree_of({"enc.0.fc", "enc.1.fc"})));
    CHECK(are_foreign(operators(folded), test::tree_of({"conv1", "layer1.0.conv1"})));
}

TEST_CASE("match_capture: scopes with known names are enough") {
    const auto tree = test::tree_of({"body.layer.0", "head"});
    CHECK_FALSE(are_foreign(operators(encoder, {"/layer.0/Add", "/layer.1/Add"}), tree));
    CHECK(are_foreign(operators(encoder, {"/enc.0/fc/Add", "/enc.1/fc/Add"}), tree));
}

TEST_CASE("match_capture: without parameter paths, many foreign scopes are enough") {
    std::vector<std::string> names;
    for (int i = 0; i < 8; ++i) {
        names.push_back("/enc." + std::to_string(i) + "/fc/Add");
    }
    const auto ops = operators({"onnx::MatMul_1"}, names);
    CHECK(are_foreign(ops, test::tree_of({"conv1", "layer1"})));
    CHECK_FALSE(are_foreign(ops, test::tree_of({"conv1", "enc.0"})));
    CHECK_FALSE(are_foreign(ops, test::tree_of({"conv1", "layer1.fc"})));
}

TEST_CASE("match_capture: a model with few parameter paths and no scopes is not foreign") {
    const auto tree = test::tree_of({"conv1"});
    CHECK_FALSE(are_foreign(operators({"onnx::MatMul_1", "weight", "enc.0.fc.weight"}), tree));
    CHECK_FALSE(are_foreign(operators({}), tree));
}

TEST_CASE("match_capture: of a small model, paths and scopes without any match are enough") {
    const auto ops = operators({"fc1.weight", "fc2.weight"}, {"/fc1/Gemm", "/fc2/Gemm"});
    CHECK(are_foreign(ops, test::tree_of({"conv1", "layer1"})));
    CHECK_FALSE(are_foreign(ops, test::tree_of({"conv1", "fc2"})));
}

TEST_CASE("match_capture: counts matches") {
    const auto ops = operators(encoder, {"/enc.0/fc/Add", "/enc.1/fc/Add", "/head/Add", "Add_3"});
    const auto matches =
        stemma::detail::match_capture(ops, test::tree_of({"enc.0.fc", "enc.1.fc"}));
    CHECK(matches.paths == 4);
    CHECK(matches.known_paths == 2);
    CHECK(matches.scopes == 3);
    CHECK(matches.known_scopes == 2);
}

} // namespace test::evidence_detail_capture_match
