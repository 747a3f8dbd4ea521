// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/check.hpp>

#include "../catch.hpp"
#include "models.hpp"

#include <stemma/onnx/carrier.hpp>
#include <stemma/proto/attributed_proto.hpp>

#include <algorithm>
#include <string>

namespace test::proto_check {

namespace {

const std::string mlp = test::fixture("mlp/model.onnx");

bool has_external_data(const onnx::ModelProto& model) {
    const auto& tensors = model.graph().initializer();
    return std::any_of(tensors.begin(), tensors.end(), [](const auto& tensor) {
        return tensor.data_location() == onnx::TensorProto::EXTERNAL;
    });
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("check: exported models are valid, also when tagged") {
    int checked = 0;
    for (const auto& path : test::model_files()) {
        auto model = test::load(path);
        if (has_external_data(model) ||
            stemma::check(model).verdict != stemma::check_verdict::valid) {
            continue;
        }
        INFO(path);
        ++checked;
        stemma::attributed_proto(model).tag(stemma::carrier_set{});
        const auto result = stemma::check(model);
        CHECK(result.text.empty());
        CHECK(result.verdict == stemma::check_verdict::valid);
    }
    CHECK(checked > 0);
}

TEST_CASE("check: the checker rejects the attribute carrier") {
    auto model = test::load(mlp);
    REQUIRE(stemma::check(model).verdict == stemma::check_verdict::valid);

    stemma::attributed_proto(model).tag({.metadata = false, .attribute = true});

    const auto result = stemma::check(model);
    CHECK(result.verdict == stemma::check_verdict::invalid);
    CHECK(contains(result.text, "source_module"));
}

TEST_CASE("check: an invalid model is reported in the checker's words") {
    auto model = test::load(mlp);
    model.mutable_graph()->mutable_node(0)->set_op_type("NoSuchOperator");

    const auto result = stemma::check(model);

    CHECK(result.verdict == stemma::check_verdict::invalid);
    CHECK(contains(result.text, "NoSuchOperator"));
    CHECK(stemma::check(onnx::ModelProto()).verdict == stemma::check_verdict::invalid);
}

TEST_CASE("check: names both versions if a model is newer than the library") {
    const auto installed = std::to_string(int{onnx::Version::IR_VERSION});
    auto newer_ir = test::load(mlp);
    newer_ir.set_ir_version(onnx::Version::IR_VERSION + 5);
    auto result = stemma::check(newer_ir);
    CHECK(result.verdict == stemma::check_verdict::cannot_judge);
    CHECK(
        contains(result.text, "IR version " + std::to_string(int{onnx::Version::IR_VERSION} + 5)));
    CHECK(contains(result.text, "up to " + installed));

    auto newer_opset = test::load(mlp);
    newer_opset.mutable_opset_import(0)->set_version(1000);
    result = stemma::check(newer_opset);
    CHECK(result.verdict == stemma::check_verdict::cannot_judge);
    CHECK(contains(result.text, "opset 1000"));

    auto newer_domain = test::load(mlp);
    auto& ml = *newer_domain.add_opset_import();
    ml.set_domain("ai.onnx.ml");
    ml.set_version(1000);
    CHECK(contains(stemma::check(newer_domain).text, "opset of ai.onnx.ml 1000"));

    auto newer_function = test::load(mlp);
    newer_function.add_functions()->add_opset_import()->set_version(1000);
    CHECK(stemma::check(newer_function).verdict == stemma::check_verdict::cannot_judge);
}

TEST_CASE("check: accepts opsets of unknown domains") {
    auto model = test::load(mlp);
    auto& theirs = *model.add_opset_import();
    theirs.set_domain("their.domain");
    theirs.set_version(1000);

    CHECK(stemma::check(model).verdict == stemma::check_verdict::valid);
}

} // namespace test::proto_check
