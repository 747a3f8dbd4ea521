// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/cost_rules.hpp>

#include "../catch.hpp"

namespace test::cost_cost_rules {

TEST_CASE("cost_rules: a domain's rule takes precedence over the one without a domain", "[cost]") {
    const stemma::cost_rules rules;
    REQUIRE(rules.find("", "Attention") != nullptr);
    CHECK(rules.find("", "Attention")->formula == "attention");
    CHECK(rules.find("com.microsoft", "Attention")->formula == "weighted_attention");
    CHECK(rules.find("", "QLinearMatMul")->numbers[1] == 3);
    CHECK(rules.find("ai.onnx.ml", "TreeEnsembleClassifier") == nullptr);
}

TEST_CASE("cost_rules: the table can be replaced", "[cost]") {
    const stemma::cost_rules rules("each 7: Mine Yours\nmoves: example::Mine\n");
    CHECK(rules.find("", "Mine")->numbers[0] == 7);
    CHECK(rules.find("example", "Mine")->formula == "moves");
    CHECK(rules.find("", "MatMul") == nullptr);
}

TEST_CASE("cost_rules: operators of other tools are not those of the standard", "[cost]") {
    const stemma::cost_rules rules;
    for (const auto* domain : {"", "ai.onnx", "ai.onnx.ml", "com.microsoft", "com.microsoft.nchwc",
                               "com.ms.internal.nhwc"}) {
        INFO(domain);
        CHECK(rules.find(domain, "Conv") != nullptr);
    }
    for (const auto* domain : {"com.acme", "ai.acme", "pkg.onnxscript.torch_lib", "trt.plugins"}) {
        INFO(domain);
        CHECK(rules.find(domain, "Conv") == nullptr);
    }
}

} // namespace test::cost_cost_rules
