// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/hierarchy_modules.hpp>

#include "../../catch.hpp"
#include "../../evidence_scene.hpp"
#include "../../model_with_metadata.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/hierarchy_table.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>

namespace test::evidence_detail_hierarchy_modules {

namespace {

const auto deep = test::dynamo({"", "list.0", "list.0.fc", "linear"},
                               {"app.Net", "app.Block", "torch.nn.Linear", "aten.linear"});

} // namespace

TEST_CASE(
    "grow_hierarchies: modules get paths and classes, and a list that never ran gets no calls") {
    test::evidence_scene scene(test::chain_of({deep}));
    const auto& tree = scene.modules();
    REQUIRE(tree.size() == 4);
    CHECK(tree.path(1) == "list");
    CHECK(tree.calls(1) == 0);
    CHECK(tree.path(2) == "list.0");
    CHECK(tree.class_name(2) == "Block");
    CHECK(tree.calls(2) != 0);
    CHECK(tree.path(3) == "list.0.fc");
    CHECK(tree.qualified_class(3) == "torch.nn.Linear");
    CHECK(tree.qualified_class(0) == "app.Net");
}

TEST_CASE("find_place: an operator without metadata has none") {
    test::evidence_scene scene(test::chain_of({deep, {}}));
    const auto place_of = [&](const char* name) {
        return stemma::detail::find_place(scene.context().hierarchies(),
                                          scene.context().modules_of_hierarchies(),
                                          scene.node(name));
    };
    CHECK(scene.modules().path(place_of("node_v0").module) == "list.0.fc");
    CHECK(place_of("node_v0").exact);
    CHECK(place_of("node_v1").module == stemma::no_id);
}

TEST_CASE("bind_hierarchies: what the tree lacks is assigned inexactly to the nearest ancestor") {
    test::evidence_scene scene(test::chain_of({deep}));
    stemma::module_tree_builder builder;
    builder.at_path("list.0");
    const auto smaller = builder.build();
    const auto table = stemma::detail::collect_hierarchies(scene.ops());
    const auto bound = stemma::detail::bind_hierarchies(scene.ops(), table, smaller,
                                                        stemma::detail::path_mapping{});
    REQUIRE(bound.of_chain.size() == 1);
    CHECK(smaller.path(bound.of_chain[0].module) == "list.0");
    CHECK_FALSE(bound.of_chain[0].exact);
}

TEST_CASE("bind_hierarchies: a chain without the root is looked up around its body's owner") {
    const auto inside = [](const std::string& name) {
        return test::described(test::node("Relu", {"x"}, {name}, name),
                               test::dynamo({"fc", "relu"}, {"app.FC", "aten.relu"}));
    };
    auto owner = test::owner_node(
        "If", {"x"}, {"y"},
        {test::graph_attribute("then_branch", test::graph({inside("p")}, {}, {"p"})),
         test::graph_attribute("else_branch", test::graph({inside("q")}, {}, {"q"}))},
        "if");
    owner =
        test::described(owner, test::dynamo({"", "gate", "cond"}, {"app.Net", "app.Gate", "cond"}));
    auto other = test::described(test::node("Relu", {"y"}, {"z"}, "other"),
                                 test::dynamo({"", "gate", "gate.fc", "relu"},
                                              {"app.Net", "app.Gate", "app.FC", "aten.relu"}));
    test::evidence_scene scene(test::graph({owner, other}, {"x"}, {"z"}), 10);
    const auto& bound = scene.context().modules_of_hierarchies();
    REQUIRE_FALSE(bound.of_body_operator.empty());
    for (const auto* name : {"p", "q"}) {
        const auto module = bound.of_body_operator[scene.node(name)];
        REQUIRE(module != stemma::no_id);
        CHECK(scene.modules().path(module) == "gate.fc");
    }
}

} // namespace test::evidence_detail_hierarchy_modules
