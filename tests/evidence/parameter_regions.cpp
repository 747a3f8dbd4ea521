// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/parameter_regions.hpp>

#include "../catch.hpp"
#include "../evidence_scene.hpp"
#include "../find_in_model.hpp"
#include "../model_with_metadata.hpp"

#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire/wire_model.hpp>

#include <string>
#include <vector>

namespace test::evidence_parameter_regions {

using stemma::parameter_regions;
using texts = std::vector<std::string>;

namespace {

/// Two linear layers of a block, with weights whose names are lost, what they add up to, and a
/// normalization behind; names of operators say nothing.
std::string nameless_block() {
    using test::node;
    const auto op = [&](const char* type, const test::names& in, const char* out) {
        return node(type, in, {out}, out);
    };
    return test::model(
               test::graph(
                   {op("MatMul", {"x", "lost_1"}, "m1"), op("Add", {"m1", "block.fc1.bias"}, "a1"),
                    op("MatMul", {"x", "lost_2"}, "m2"), op("Add", {"m2", "block.fc2.bias"}, "a2"),
                    op("Mul", {"a1", "a2"}, "join"), op("Pow", {"join", "two"}, "square"),
                    op("Sub", {"join", "square"}, "centred"),
                    op("Mul", {"centred", "norm.weight"}, "scaled")},
                   {"x"}, {"scaled"},
                   {"lost_1", "lost_2", "block.fc1.bias", "block.fc2.bias", "two", "norm.weight"}))
        .bytes();
}

} // namespace

TEST_CASE("parameter_regions: a multiplication by a weight without a name goes with its bias") {
    test::evidence_scene scene(nameless_block());
    CHECK(scene.paths<parameter_regions>("m1") == texts{"block.fc1"});
    CHECK(scene.paths<parameter_regions>("m2") == texts{"block.fc2"});
    for (const auto& one : scene.claims<parameter_regions>("m1")) {
        CHECK_FALSE(one.exact);
        CHECK(one.confidence < 0.9F);
    }
}

TEST_CASE("parameter_regions: a module that is never called bounds a region, and owns none") {
    const auto bytes = nameless_block();
    const stemma::wire_model model(bytes);
    const stemma::onnx_operators<stemma::wire_model> ops(model);
    stemma::module_tree_builder builder;
    builder.set_calls(builder.at_path("block"), 1);
    builder.set_calls(builder.at_path("block.fc1"), 0);
    builder.set_calls(builder.at_path("block.fc2"), 0);
    builder.set_calls(builder.at_path("norm"), 1);
    const auto tree = builder.build();
    stemma::evidence_context context(ops, tree);
    const auto claims = parameter_regions{}.prepare(context);
    for (const char* name : {"m1", "m2", "join"}) {
        claims.for_each_claim(test::node_called(model, name), [&](const stemma::claim& made) {
            CHECK(tree.path(made.module) == "block");
        });
    }
}

TEST_CASE("parameter_regions: what joins the results of two modules belongs to what calls both") {
    test::evidence_scene scene(nameless_block());
    CHECK(scene.paths<parameter_regions>("join") == texts{"block"});
}

TEST_CASE("parameter_regions: behind the last parameters, all modules before count") {
    // Two heads of two layers each, whose results are worked on at the end.
    using test::node;
    const auto op = [&](const char* type, const test::names& in, const char* out) {
        return node(type, in, {out}, out);
    };
    test::evidence_scene scene(
        test::model(
            test::graph(
                {op("Add", {"x", "heads.a.fc1.bias"}, "a1"),
                 op("Add", {"a1", "heads.a.fc2.bias"}, "a2"),
                 op("Add", {"x", "heads.b.fc1.bias"}, "b1"),
                 op("Add", {"b1", "heads.b.fc2.bias"}, "b2"), op("Mul", {"a1", "a2"}, "both"),
                 op("Mul", {"both", "b2"}, "join"), op("Relu", {"join"}, "last")},
                {"x"}, {"last"},
                {"heads.a.fc1.bias", "heads.a.fc2.bias", "heads.b.fc1.bias", "heads.b.fc2.bias"}))
            .bytes());
    CHECK(scene.paths<parameter_regions>("both") == texts{"heads.a"});
    CHECK(scene.paths<parameter_regions>("join") == texts{"heads"});
    CHECK(scene.paths<parameter_regions>("last") == texts{"heads"});
}

TEST_CASE("parameter_regions: what reads parameters with names is left to these") {
    test::evidence_scene scene(nameless_block());
    CHECK(scene.claims<parameter_regions>("a1").empty());
    CHECK(scene.claims<parameter_regions>("scaled").empty());
}

TEST_CASE("parameter_regions: where operators have scopes there is nothing to guess") {
    // The names end in values, so only those with a scope that ends in the operator's type count.
    test::evidence_scene scene(
        test::model(test::graph({test::node("Relu", {"x"}, {"y"}, "/block/Relu"),
                                 test::node("Neg", {"y"}, {"z"}, "nameless")},
                                {"x"}, {"z"}, {"block.fc.weight"}))
            .bytes());
    CHECK(scene.claims<parameter_regions>("nameless").empty());
}

} // namespace test::evidence_parameter_regions
