// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/hierarchy_metadata.hpp>

#include "../catch.hpp"
#include "../evidence_scene.hpp"
#include "../model_with_metadata.hpp"

#include <stemma/model/attribution.hpp>
#include <stemma/policy/evidence.hpp>

#include <string>
#include <type_traits>
#include <vector>

using stemma::builder_metadata;
using stemma::exporter_metadata;
using texts = std::vector<std::string>;

TEST_CASE("hierarchy_metadata: each dialect is a source of its own") {
    test::evidence_scene scene(
        test::chain_of({test::dynamo({"", "a", "relu"}, {"app.Net", "app.A", "aten.relu"}),
                        test::builder({"", "b", "c"}, {"app.Net", "app.B", "app.C"}),
                        {}}));
    CHECK(scene.paths<exporter_metadata>("node_v0") == texts{"a"});
    CHECK(scene.paths<builder_metadata>("node_v0").empty());
    CHECK(scene.paths<builder_metadata>("node_v1") == texts{"b.c"});
    CHECK(scene.paths<exporter_metadata>("node_v1").empty());
    CHECK(scene.paths<exporter_metadata>("node_v2").empty());
    const auto made = scene.claims<exporter_metadata>("node_v0").at(0);
    CHECK(made.exact);
    CHECK(made.confidence >= 0.9F);
    CHECK_FALSE(made.doubtful);
    CHECK(made.source == stemma::provenance::metadata);
    STATIC_REQUIRE(std::is_empty_v<exporter_metadata>);
    STATIC_REQUIRE(stemma::evidence_policy<exporter_metadata, test::evidence_scene::operators,
                                           stemma::module_tree>);
}

TEST_CASE("hierarchy_metadata: what a rewriter fused is doubtful, as it names one of several") {
    auto fused = test::dynamo({"", "a", "relu"}, {"app.Net", "app.A", "aten.relu"});
    fused.emplace_back("pkg.onnxscript.rewriter.rule_name", "FuseReluRelu");
    test::evidence_scene scene(test::chain_of({fused}));
    CHECK(scene.claims<exporter_metadata>("node_v0").at(0).doubtful);
}
