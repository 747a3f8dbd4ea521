// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/hierarchy_metadata.hpp>

#include "../catch.hpp"
#include "../evidence_scene.hpp"
#include "../model_with_metadata.hpp"

#include <stemma/evidence/evidence.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/tagging/resolution.hpp>
#include <stemma/tagging/tagger.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace test::evidence_hierarchy_metadata {

using stemma::builder_metadata;
using stemma::exporter_metadata;
using texts = std::vector<std::string>;

TEST_CASE("hierarchy_metadata: each dialect is a separate source") {
    test::evidence_scene scene(
        test::chain_of({test::dynamo({"", "a", "relu"}, {"app.Net", "app.A", "aten.relu"}),
                        test::builder({"", "b", "c"}, {"app.Net", "app.B", "app.C"}),
                        {}}));
    CHECK(scene.paths<exporter_metadata>("node_v0") == texts{"a"});
    CHECK(scene.paths<builder_metadata>("node_v0").empty());
    CHECK(scene.paths<builder_metadata>("node_v1") == texts{"b.c"});
    CHECK(scene.paths<exporter_metadata>("node_v1").empty());
    CHECK(scene.paths<exporter_metadata>("node_v2").empty());
    const auto claim = scene.claims<exporter_metadata>("node_v0").at(0);
    CHECK(claim.exact);
    CHECK(claim.confidence >= 0.9F);
    CHECK_FALSE(claim.doubtful);
    CHECK(claim.source == stemma::provenance::metadata);
    STATIC_REQUIRE(std::is_empty_v<exporter_metadata>);
    STATIC_REQUIRE(stemma::evidence_policy<exporter_metadata, test::evidence_scene::operators,
                                           stemma::module_tree>);
}

TEST_CASE("hierarchy_metadata: a fused operator is doubtful, as it names one of several") {
    auto fused = test::dynamo({"", "a", "relu"}, {"app.Net", "app.A", "aten.relu"});
    fused.emplace_back("pkg.onnxscript.rewriter.rule_name", "FuseReluRelu");
    test::evidence_scene scene(test::chain_of({fused}));
    CHECK(scene.claims<exporter_metadata>("node_v0").at(0).doubtful);
}

TEST_CASE(
    "hierarchy_metadata: an operation without modules says nothing, but branches that it owns "
    "are in the module of the If around it") {
    const auto relu = [](const std::string& from, const std::string& name,
                         const test::metadata& entries) {
        return test::described(test::node("Relu", {from}, {name}, name), entries);
    };
    const auto bare = test::dynamo({"pad"}, {"aten.pad.default"});
    const auto branches = [](const test::message& then_node, const test::message& else_node,
                             const std::string& then_result, const std::string& else_result) {
        return std::vector<test::message>{
            test::graph_attribute("then_branch", test::graph({then_node}, {}, {then_result})),
            test::graph_attribute("else_branch", test::graph({else_node}, {}, {else_result}))};
    };
    const auto inner = test::described(
        test::owner_node("If", {"x"}, {"i"},
                         branches(relu("x", "deep", bare),
                                  relu("x", "act", test::dynamo({"act", "relu"}, {"p.Act", "op"})),
                                  "deep", "act"),
                         "inner"),
        test::dynamo({"cond_1"}, {"cond"}));
    const auto outer =
        test::described(test::owner_node("If", {"x"}, {"y"},
                                         branches(relu("x", "p", bare), inner, "p", "i"), "outer"),
                        test::dynamo({"", "gate", "cond"}, {"app.Net", "app.Gate", "cond"}));
    const auto other =
        relu("y", "z",
             test::dynamo({"", "gate", "gate.act", "relu"}, {"p.Net", "p.Gate", "p.Act", "op"}));
    test::evidence_scene scene(test::graph({outer, other, relu("z", "w", bare)}, {"x"}, {"w"}), 10);
    CHECK(scene.paths<exporter_metadata>("outer") == texts{"gate"});
    CHECK(scene.paths<exporter_metadata>("act") == texts{"gate.act"});
    for (const auto* name : {"p", "inner", "deep", "w"}) {
        INFO(name);
        CHECK(scene.paths<exporter_metadata>(name).empty());
    }
}

TEST_CASE(
    "hierarchy_metadata: in branches, parameters and neighbours decide about operations without "
    "modules, below the module of the If") {
    const auto bare = [](const std::string& type, const std::vector<std::string>& inputs,
                         const std::string& name) {
        return test::described(test::node(type, inputs, {name}, name),
                               test::dynamo({name}, {"aten.op.default"}));
    };
    const auto then_branch =
        test::graph({bare("MatMul", {"x", "gate.enc.fc.weight"}, "first"),
                     bare("Softmax", {"first"}, "between"),
                     bare("MatMul", {"between", "gate.dec.fc.weight"}, "last")},
                    {}, {"last"});
    const auto owner = test::described(
        test::owner_node(
            "If", {"p"}, {"y"},
            {test::graph_attribute("then_branch", then_branch),
             test::graph_attribute("else_branch",
                                   test::graph({bare("Tanh", {"x"}, "other")}, {}, {"other"}))},
            "outer"),
        test::dynamo({"", "gate", "cond"}, {"app.Net", "app.Gate", "cond"}));
    test::evidence_scene scene(
        test::graph({owner}, {"x", "p"}, {"y"}, {"gate.enc.fc.weight", "gate.dec.fc.weight"}), 10);
    const auto tagged = stemma::tag_operators(scene.context(), stemma::policies<>{});
    const auto of = [&](const char* name) { return tagged.attributions[scene.node(name)]; };
    CHECK(scene.modules().path(of("first").module) == "gate.enc.fc");
    CHECK(scene.modules().path(of("last").module) == "gate.dec.fc");
    for (const auto* name : {"between", "other"}) {
        INFO(name);
        CHECK(scene.modules().path(of(name).module) == "gate");
        CHECK(of(name).confidence < 0.9F);
    }
}

TEST_CASE("hierarchy_metadata: repeated keys are several origins, all doubtful") {
    const auto first = test::dynamo({"", "a", "a.fc", "linear"}, {"p.Net", "p.A", "p.Fc", "op"});
    const auto second = test::dynamo({"", "a", "a.act", "relu"}, {"p.Net", "p.A", "p.Act", "op"});
    auto by_node = first;
    by_node.insert(by_node.end(), second.begin(), second.end());
    const test::metadata by_key{first[0], second[0], first[1], second[1]};
    auto same = first;
    same.insert(same.end(), first.begin(), first.end());
    test::evidence_scene scene(test::chain_of({by_node, by_key, same}));
    for (const auto* name : {"node_v0", "node_v1"}) {
        CHECK(scene.paths<stemma::exporter_metadata>(name) ==
              std::vector<std::string>{"a.fc", "a.act"});
        for (const auto& one : scene.claims<stemma::exporter_metadata>(name)) {
            CHECK(one.doubtful);
        }
        const auto claims = scene.claims<stemma::exporter_metadata>(name);
        const auto resolution = stemma::by_trust{}.resolve(scene.modules().index(), claims);
        CHECK(scene.modules().path(resolution.module) == "a");
    }
    const auto one = scene.claims<stemma::exporter_metadata>("node_v2");
    REQUIRE(one.size() == 1);
    CHECK_FALSE(one[0].doubtful);
}

} // namespace test::evidence_hierarchy_metadata
