// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/class_tags.hpp>

#include "../catch.hpp"
#include "../evidence_scene.hpp"
#include "../model_with_metadata.hpp"

#include <stemma/model/attribution.hpp>

#include <string>
#include <vector>

namespace test::evidence_class_tags {

using stemma::class_tags;
using texts = std::vector<std::string>;

namespace {

/// A model whose first operators reveal the tree; the last ones have only tags.
std::string tagged(const std::vector<test::metadata>& tags) {
    std::vector<test::metadata> all;
    for (const auto* layer : {"0", "1"}) {
        const auto path = std::string("enc.layer.") + layer;
        all.push_back(test::dynamo({"", "enc", path, path + ".att", path + ".att.query", "linear"},
                                   {"p.Net", "p.Encoder", "p.Layer", "p.Attention",
                                    "torch.nn.modules.linear.Linear", "aten.linear.default"}));
    }
    all.insert(all.end(), tags.begin(), tags.end());
    return test::chain_of(all);
}

test::metadata tag(const std::string& text) {
    return {{"winml.hierarchy.tag", text}, {"winml.hierarchy.depth", "3"}};
}

} // namespace

TEST_CASE("class_tags: classes and numbers lead to modules, across those without segments") {
    test::evidence_scene scene(
        tagged({tag("/Net/Encoder/Layer.1/Attention"), tag("/Net/Layer.0/Attention"),
                tag("/Net/Encoder"), tag("/Net/Encoder/Layer.1/Attention/query")}));
    CHECK(scene.paths<class_tags>("node_v2") == texts{"enc.layer.1.att"});
    CHECK(scene.paths<class_tags>("node_v3") == texts{"enc.layer.0.att"});
    CHECK(scene.paths<class_tags>("node_v4") == texts{"enc"});
    CHECK(scene.paths<class_tags>("node_v5") == texts{"enc.layer.1.att.query"});
    for (const auto& one : scene.claims<class_tags>("node_v2")) {
        CHECK_FALSE(one.exact); // modules of frameworks have no segment
        CHECK(one.source == stemma::provenance::leftover);
    }
}

TEST_CASE("class_tags: ambiguous or repeated tags mean the common ancestor") {
    auto twice = tag("/Net/Encoder/Layer.0/Attention");
    const auto more = tag("/Net/Encoder/Layer.1");
    twice.insert(twice.end(), more.begin(), more.end());
    test::evidence_scene scene(tagged({tag("/Net/Encoder/Attention"), twice}));
    CHECK(scene.paths<class_tags>("node_v2") == texts{"enc.layer"});
    CHECK(scene.paths<class_tags>("node_v3") == texts{"enc.layer"});
    for (const auto* name : {"node_v2", "node_v3"}) {
        CHECK(scene.claims<class_tags>(name).front().confidence <= 0.5F);
    }
}

TEST_CASE("class_tags: tags are a tree where nothing else names a module") {
    test::evidence_scene scene(
        test::chain_of({tag("/Net/Block.0/Linear"), tag("/Net/Block.0"), tag("/Net/Block.1/Linear"),
                        tag("/Net/Linear"), tag("/Net"), tag("/Net//Linear"), tag("")}));
    const auto& modules = scene.modules();
    texts paths;
    texts classes;
    for (stemma::id m = 0; m < modules.size(); ++m) {
        paths.emplace_back(modules.path(m));
        classes.emplace_back(modules.class_name(m));
    }
    CHECK(paths ==
          texts{"", "Block", "Block.0", "Block.0.Linear", "Block.1", "Block.1.Linear", "Linear"});
    CHECK(classes == texts{"Net", "", "Block", "Linear", "Block", "Linear", "Linear"});
    CHECK(modules.calls(1) == 0);
    CHECK(scene.paths<class_tags>("node_v0") == texts{"Block.0.Linear"});
    CHECK(scene.paths<class_tags>("node_v1") == texts{"Block.0"});
    CHECK(scene.paths<class_tags>("node_v3") == texts{"Linear"});
    CHECK(scene.paths<class_tags>("node_v4") == texts{"/"});
    CHECK(scene.claims<class_tags>("node_v5").empty());
    CHECK(scene.claims<class_tags>("node_v6").empty());
}

TEST_CASE("class_tags: a tag that leads nowhere, or only to the root, claims nothing") {
    test::evidence_scene scene(
        tagged({tag("/Net"), tag("/Net/Decoder"), tag(""), tag("/"), tag("Net/Encoder"), {}}));
    for (const auto* name : {"node_v0", "node_v2", "node_v3", "node_v4", "node_v5", "node_v7"}) {
        CHECK(scene.claims<class_tags>(name).empty());
    }
}

} // namespace test::evidence_class_tags
