// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/region_classes.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace test::fold_detail_region_classes {

namespace {

using stemma::id;
using stemma::no_id;

/// Shapes whose hashes say nothing.
struct same_hashes {
    stemma::node_shapes& shapes;
    std::uint64_t hash(id, bool) { return 7; }
    bool equal(id a, id b, bool vary) { return shapes.equal(a, b, vary); }
};

std::vector<stemma::attribution> in_modules(const std::vector<id>& modules) {
    std::vector<stemma::attribution> attributions;
    for (auto m : modules) {
        attributions.push_back({m, no_id, 1, stemma::provenance::scope, false});
    }
    return attributions;
}

std::string bytes_of(const std::vector<test::message>& nodes, const test::names& outputs = {"y"}) {
    return test::model(test::graph(nodes, {"x", "z"}, outputs, {"w", "v"})).bytes();
}

/// Two nodes in layer 0 (module 2), then two in layer 1 (module 4).
test::fold_scene two_layers(const std::vector<test::message>& nodes,
                            const test::names& outputs = {"y"}) {
    return {bytes_of(nodes, outputs), test::layers(2), in_modules({2, 2, 4, 4})};
}

std::vector<std::string> names_of(const stemma::wire_model& model, const std::vector<id>& values) {
    std::vector<std::string> names;
    for (auto value : values) {
        names.emplace_back(model.value_name(value));
    }
    return names;
}

test::message node(const char* type, const test::names& in, const test::names& out) {
    return test::node(type, in, out);
}

/// A chain of four Relus in two regions of two, and their exports.
struct chain {
    std::string bytes;
    stemma::wire_model model{bytes};
    stemma::detail::divided_graph graph{
        0, stemma::detail::nested_graph(model, 0), {0, 1, 2, 3}, {}};
    std::vector<id> place{1, 1, 2, 2};
    stemma::detail::fold_plan plan{};

    explicit chain(const test::names& outputs)
        : bytes(test::model(
                    test::graph({test::node("Relu", {"x"}, {"a"}), test::node("Relu", {"a"}, {"b"}),
                                 test::node("Relu", {"b"}, {"c"}),
                                 test::node("Add", {"c", "a"}, {"d"})},
                                {"x"}, outputs))
                    .bytes()) {
        graph.spread.assign(4, false);
        graph.leaving = stemma::detail::graph_results(model, 0);
        plan.regions.resize(3);
        for (id r = 0; r < 3; ++r) {
            plan.regions[r].parent = r == 0 ? no_id : 0;
            plan.regions[r].end = r == 0 ? 3 : r + 1;
        }
        plan.root = {0};
    }

    [[nodiscard]] std::set<std::pair<id, std::string>> exports() const {
        std::set<std::pair<id, std::string>> pairs;
        stemma::detail::find_exports(model, graph, place, plan, [&](id r, id value) {
            CHECK(pairs.emplace(r, model.value_name(value)).second);
        });
        return pairs;
    }
};

} // namespace

TEST_CASE("relative_path: the names from one module down to another") {
    const auto modules = test::layers(2);
    CHECK(stemma::detail::relative_path(modules, 0, 3) == "layer.0.fc");
    CHECK(stemma::detail::relative_path(modules, 2, 3) == "fc");
    CHECK(stemma::detail::relative_path(modules, 3, 3).empty());
}

TEST_CASE("classify_regions: equal layers share a function whatever their names and weights") {
    auto scene = two_layers({node("Add", {"x", "w"}, {"a"}), node("Relu", {"a"}, {"b"}),
                             node("Add", {"b", "v"}, {"c"}), node("Relu", {"c"}, {"y"})});
    const auto plan = scene.plan();
    REQUIRE(plan.regions.size() == 3);
    CHECK(plan.function[1] == plan.function[2]);
    REQUIRE(plan.functions.size() == 1);
    CHECK(plan.functions[0].calls == 2);
    CHECK(plan.functions[0].region == 1);
    CHECK(plan.functions[0].activations == 1);
    CHECK(names_of(scene.model, plan.inputs[2]) == std::vector<std::string>{"b", "v"});
    CHECK(names_of(scene.model, plan.outputs[2]) == std::vector<std::string>{"y"});
}

TEST_CASE(
    "classify_regions: other operators, wiring, attributes or kinds of input are not shared") {
    const auto functions = [](const std::vector<test::message>& nodes) {
        auto scene = two_layers(nodes);
        return scene.plan().functions.size();
    };
    const auto first = node("Add", {"x", "w"}, {"a"});
    const auto second = node("Add", {"a", "x"}, {"b"});
    CHECK(functions({first, second, node("Add", {"b", "v"}, {"c"}),
                     node("Add", {"c", "b"}, {"y"})}) == 1);
    CHECK(functions({first, second, node("Add", {"b", "v"}, {"c"}),
                     node("Sub", {"c", "b"}, {"y"})}) == 2);
    CHECK(functions({first, second, node("Add", {"b", "v"}, {"c"}),
                     node("Add", {"b", "c"}, {"y"})}) == 2);
    CHECK(functions({first, second, node("Add", {"b", "z"}, {"c"}),
                     node("Add", {"c", "b"}, {"y"})}) == 2);
    CHECK(functions({first, second, node("Add", {"b", "v"}, {"c"}),
                     node("Add", {"c", "z"}, {"y"})}) == 2);
    CHECK(functions({first, second, node("Add", {"b", "v"}, {"c"}),
                     node("Add", {"c", "b"}, {"y"}).inner(5, test::text_attribute("mode", "x"))}) ==
          2);
}

TEST_CASE("classify_regions: equal layers share a function in any node order") {
    test::fold_scene scene{bytes_of({node("Relu", {"x"}, {"a"}), node("Tanh", {"w"}, {"b"}),
                                     node("Sub", {"a", "b"}, {"c"}), node("Tanh", {"v"}, {"d"}),
                                     node("Relu", {"c"}, {"e"}), node("Sub", {"e", "d"}, {"y"})}),
                           test::layers(2), in_modules({2, 2, 2, 4, 4, 4})};
    const auto plan = scene.plan();
    REQUIRE(plan.functions.size() == 1);
    CHECK(plan.functions[0].calls == 2);
    // Like the one found first: the last one.
    CHECK(plan.regions[1].items.front().index == 1);
    CHECK(plan.regions[2].items.front().index == 3);
    CHECK(names_of(scene.model, plan.inputs[1]) == std::vector<std::string>{"x", "w"});
    CHECK(names_of(scene.model, plan.inputs[2]) == std::vector<std::string>{"c", "v"});
}

TEST_CASE("classify_regions: different wiring is detected in any node order") {
    test::fold_scene scene{bytes_of({node("Relu", {"x"}, {"a"}), node("Tanh", {"w"}, {"b"}),
                                     node("Sub", {"a", "b"}, {"c"}), node("Tanh", {"v"}, {"d"}),
                                     node("Relu", {"c"}, {"e"}), node("Sub", {"d", "e"}, {"y"})}),
                           test::layers(2), in_modules({2, 2, 2, 4, 4, 4})};
    const auto plan = scene.plan();
    CHECK(plan.functions.size() == 2);
    CHECK(plan.regions[1].items.front().index == 0);
}

TEST_CASE("classify_regions: equal hashes alone do not suffice") {
    auto scene = two_layers({node("Add", {"x", "w"}, {"a"}), node("Relu", {"a"}, {"b"}),
                             node("Add", {"b", "v"}, {"c"}), node("Tanh", {"c"}, {"y"})});
    same_hashes shapes{scene.shapes};
    const auto plan = stemma::plan_fold(scene.model, scene.contents, scene.modules,
                                        scene.attributions, shapes, scene.options);
    CHECK(plan.functions.size() == 2);
    CHECK(plan.functions[plan.function[1]].numbered() == "Layer");
    CHECK(plan.functions[plan.function[2]].numbered() == "Layer.1");
}

TEST_CASE("classify_regions: inputs are in reading order, weights last; outputs in order of use") {
    auto scene = two_layers({node("Add", {"w", "x"}, {"a"}), node("Add", {"a", "z"}, {"b"}),
                             node("Relu", {"b"}, {"c"}), node("Add", {"c", "a"}, {"y"})});
    const auto plan = scene.plan();
    CHECK(names_of(scene.model, plan.inputs[1]) == std::vector<std::string>{"x", "z", "w"});
    CHECK(names_of(scene.model, plan.outputs[1]) == std::vector<std::string>{"b", "a"});
    CHECK(plan.functions[plan.function[1]].activations == 2);
}

TEST_CASE("classify_regions: calls with different outputs are different functions") {
    const std::vector<test::message> nodes{
        node("Add", {"x", "w"}, {"a"}), node("Relu", {"a"}, {"b"}), node("Add", {"b", "v"}, {"c"}),
        node("Relu", {"c"}, {"y"})};
    auto alike = two_layers(nodes);
    CHECK(alike.plan().functions.size() == 1);
    auto exposed = two_layers(nodes, {"y", "c"});
    CHECK(exposed.plan().functions.size() == 2);
}

TEST_CASE("classify_regions: the names of equal layers are not compared one by one") {
    std::vector<test::message> nodes;
    std::vector<id> where;
    std::string last = "x";
    for (id layer = 0; layer < 40; ++layer) {
        const auto sum = "sum" + std::to_string(layer);
        const auto result = layer == 39 ? "y" : "result" + std::to_string(layer);
        nodes.push_back(test::node("Add", {last, "w"}, {sum}));
        nodes.push_back(test::node("Relu", {sum}, {result}));
        where.insert(where.end(), 2, 2 * layer + 2);
        last = result;
    }
    std::size_t asked = 0;
    test::fold_scene scene{bytes_of(nodes), test::layers(40), in_modules(where)};
    scene.options.name_of = [&](const stemma::module_tree& modules, id m) {
        ++asked;
        return stemma::named_by_path{}(modules, m);
    };
    CHECK(scene.plan().functions.size() == 40);
    CHECK(asked <= 80);
}

TEST_CASE("classify_regions: avoids names used by the model") {
    auto scene =
        two_layers({node("Add", {"x", "w"}, {"a"}), node("Relu", {"a"}, {"b"}),
                    node("Add", {"b", "v"}, {"c"}), test::node("Layer", {"c"}, {"y"}, "", "net")});
    const auto plan = scene.plan();
    CHECK(plan.functions[plan.function[1]].numbered() == "Layer.1");
    CHECK(plan.functions[plan.function[2]].numbered() == "Layer.2");
}

TEST_CASE(
    "classify_regions: no function is called as the operator that runtimes know by its name") {
    stemma::module_tree_builder tree;
    tree.set_class(tree.at_path("fill"), "Constant", "net.Constant");
    test::fold_scene scene{bytes_of({node("Add", {"x", "w"}, {"a"}), node("Relu", {"a"}, {"y"})}),
                           tree.build(),
                           in_modules({1, 1}),
                           {.selection = stemma::of_classes{{"Constant"}}}};
    const auto plan = scene.plan();
    CHECK(plan.functions[plan.function[1]].numbered() == "Constant.1");
}

TEST_CASE("find_exports: values read elsewhere, or outputs of the graph") {
    using found = std::set<std::pair<id, std::string>>;
    CHECK(chain({"d"}).exports() == found{{1, "a"}, {1, "b"}, {2, "d"}});
    CHECK(chain({"d", "c"}).exports() == found{{1, "a"}, {1, "b"}, {2, "c"}, {2, "d"}});
    CHECK(chain({}).exports() == found{{1, "a"}, {1, "b"}});
    auto moved = chain({"d"});
    moved.graph.spread[0] = true; // it is wherever it is read
    CHECK(moved.exports() == found{{1, "b"}, {2, "d"}});
}

TEST_CASE("find_exports: a value leaves all regions up to the one that contains its readers") {
    auto nested = chain({"d"});
    nested.plan.regions[1].end = 3; // the second region lies in the first one
    nested.plan.regions[2].parent = 1;
    const std::set<std::pair<id, std::string>> expected{{1, "d"}, {2, "d"}};
    CHECK(nested.exports() == expected);
}

TEST_CASE("first_uses: the first readers outside the region") {
    const auto scene = chain({"d"});
    const auto uses = [&](id region, const std::vector<id>& nodes) {
        std::vector<id> values;
        for (auto node : nodes) {
            values.push_back(scene.model.first_output(node));
        }
        return stemma::detail::first_uses(scene.model, scene.graph, scene.place, scene.plan, region,
                                          values);
    };
    const auto first = uses(1, {0, 1});
    CHECK(first.size() == 2);
    CHECK(first.at(scene.model.first_output(0)) == 3); // the second Relu is inside
    CHECK(first.at(scene.model.first_output(1)) == 2);
    CHECK(uses(2, {3}).empty()); // an output of the graph, which no node reads
}

} // namespace test::fold_detail_region_classes
