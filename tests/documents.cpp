// SPDX-License-Identifier: Apache-2.0
// Code in documents that is not part of an example.
#include "catch.hpp"
#include "laws.hpp"
#include "operator_scene.hpp"

#include <stemma/core.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace test::documents {

namespace {

struct my_propagation : stemma::consumers_only {};
using mine = my_propagation;

} // namespace

TEST_CASE("documents: the code in docs/policies.md works") {
    test::operator_scene ops;
    const auto modules = test::tree_of({":zoo.Net", "first:zoo.Layer", "second:torch.nn.Linear"});
    const auto open = ops.add({}, "open", "Relu");
    const auto last = ops.add({open}, "/second/MatMul", "MatMul");
    ops.read_parameter(last, "second.weight");

    const auto tagged = stemma::tag_operators(
        ops, modules, stemma::policies{stemma::all_modules{}, my_propagation{}});
    CHECK(tagged.attributions[open].module == 2);
    CHECK(tagged.attributions[open].source == stemma::provenance::consumer);
    CHECK(tagged.selected(last) == 2);

    const std::vector<stemma::id> evidence{stemma::no_id, 2};
    CHECK(stemma::broken_propagation_laws(mine{}, ops, modules.index(), evidence).empty());
}

TEST_CASE("documents: the code in docs/algorithms.md works") {
    test::operator_scene ops;
    using graph_type = test::operator_scene::graph_type;
    const auto open = ops.add({}, "open", "Relu");
    const auto first = ops.add({open}, "/layers.0/MatMul", "MatMul");
    const auto second = ops.add({first}, "/layers.1/MatMul", "MatMul");
    const auto tree = test::tree_of({":zoo.Net", "layers.0:zoo.Layer", "layers.1:zoo.Layer"});
    const auto& graph = ops.graph();

    const auto rebuilt = stemma::rebuild_tree(ops);
    const auto tagged = stemma::tag_operators(ops, rebuilt.modules);
    CHECK(rebuilt.modules.path(tagged.attributions[second].module) == "layers.1");

    const auto tags = stemma::name_modules(
        tree, [](auto&& modules, stemma::id m) { return modules.class_name(m) != "Linear"; });
    CHECK(tags.is_selected(test::module_at(tree, "layers.1")));

    std::vector<stemma::attribution> attributions(num_vertices(graph));
    attributions[second] = {.module = 2, .confidence = 1, .source = stemma::provenance::scope};
    stemma::propagate(ops, tree.index(), attributions);
    const auto changed = stemma::repropagate(ops, tree.index(), attributions);
    CHECK(attributions[first].module == 2);
    CHECK(changed.empty());

    const auto parts = stemma::plan_cuts(graph, {first, second});
    REQUIRE(parts.size() == 1);
    CHECK(parts[0].inputs.size() == 1);
    CHECK(parts[0].way_back.empty());

    const auto order = stemma::topological_order(graph);
    const std::vector<std::uint64_t> costs(order.size(), 1);
    const stemma::partition_problem<graph_type> problem{graph, order, costs};
    const auto halves = stemma::partition_graph(problem, stemma::balanced_parts{2});
    CHECK(halves.piece_of.size() == order.size());

    const std::vector<bool> none_apart(num_vertices(graph), false);
    const auto torn =
        stemma::find_non_convex_modules(graph, tree.index(), attributions, none_apart);
    CHECK(torn.empty());

    const auto layers = stemma::find_matching_modules(stemma::parse_query("*.1"), tree, tags);
    CHECK(layers.size() == 1);
}

} // namespace test::documents
