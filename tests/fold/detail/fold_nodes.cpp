// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_nodes.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"

#include <stemma/fold/detail/function_inliner.hpp>

#include <map>
#include <string>
#include <vector>

namespace test::fold_detail_fold_nodes {

namespace {

using stemma::id;
using stemma::no_id;

/// Returns: what a call in a folded file says of itself, by key; its name under "".
std::map<std::string, std::string> said(const stemma::wire_model& model, id node) {
    std::map<std::string, std::string> entries{{"", std::string(model.name(node))}};
    model.for_each_metadata(
        node, [&](std::string_view key, std::string_view value) { entries.emplace(key, value); });
    return entries;
}

/// Returns: the names of the nodes in the main graph of a file.
std::vector<std::string> names_in_graph(const std::string& bytes) {
    const stemma::wire_model model(bytes, "folded");
    std::vector<std::string> names;
    for (id node = 0; node < model.node_count(); ++node) {
        if (model.graph_of(node) == 0) {
            names.emplace_back(model.name(node));
        }
    }
    return names;
}

/// Layers that add a Constant each, and whose `fc` multiplies by one.
test::fold_scene varied_layers() {
    std::vector<test::message> nodes;
    std::vector<stemma::attribution> where;
    std::string flowing = "x";
    for (std::size_t i = 0; i < 3; ++i) {
        const auto number = std::to_string(i);
        const auto constant = [&](const std::string& name) {
            return test::node("Constant", {}, {name + number})
                .inner(5, test::text_attribute("value_string", name + number));
        };
        const auto output = i == 2 ? "y" : "a" + number;
        nodes.push_back(constant("s"));
        nodes.push_back(test::node("Mul", {flowing, "s" + number}, {"m" + number}));
        nodes.push_back(constant("t"));
        nodes.push_back(test::node("Add", {"m" + number, "t" + number}, {output}));
        flowing = output;
        const auto layer = static_cast<stemma::id>(2 + 2 * i);
        for (auto m : {layer + 1, layer + 1, layer, layer}) {
            where.push_back({m, stemma::no_id, 1, stemma::provenance::scope, false});
        }
    }
    test::fold_scene scene{test::model(test::graph(nodes, {"x"}, {"y"})).bytes(), test::layers(3),
                           where};
    scene.options.vary_constants = true;
    return scene;
}

std::vector<std::string> attributes_of(const stemma::wire_model& model, stemma::id node) {
    std::vector<std::string> texts;
    auto fields = model.reader(model.message(node));
    for (stemma::detail::wire_field field; fields.next(field);) {
        if (field.is_bytes(stemma::detail::onnx_fields::node::attribute)) {
            texts.emplace_back(fields.text(field));
        }
    }
    return texts;
}

} // namespace

TEST_CASE(
    "fold_nodes: a call records module and tag relative to the enclosing module, also in bodies") {
    auto scene = test::deciding_layers();
    const auto bytes = scene.fold();
    const stemma::wire_model model(bytes, "folded");
    std::size_t outer = 0;
    std::size_t inner = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        if (model.callee(node) == no_id) {
            continue;
        }
        auto entries = said(model, node);
        if (model.owner(node) == no_id) {
            const auto path = "layer." + std::to_string(outer++);
            CHECK(entries[""] == path);
            CHECK(entries[std::string(stemma::detail::fold_module_key)] == path);
            CHECK(entries[std::string(stemma::detail::fold_tag_key)].find("Layer") !=
                  std::string::npos);
        } else {
            ++inner;
            CHECK(entries[""] == "fc");
            CHECK(entries[std::string(stemma::detail::fold_module_key)] == "fc");
            CHECK(entries[std::string(stemma::detail::fold_tag_key)] == "/Linear");
        }
        CHECK(entries[std::string(stemma::detail::fold_call_key)] == "0");
    }
    CHECK(outer == 2);
    CHECK(inner == 2); // in both branches, once for both layers
}

TEST_CASE("fold_nodes: a call is not named like a node that stays in its graph") {
    test::placed_nodes nodes;
    nodes.add_layer(0, "/layer.0", "x", "a");
    nodes.add_layer(1, "/layer.1", "a", "b");
    nodes.add(test::node("Tanh", {"b"}, {"c"}, "layer.1"), 0);
    nodes.add(test::node("Tanh", {"c"}, {"y"}, "layer.1_"), 0);
    auto scene = nodes.scene(2, "y");
    const auto bytes = scene.fold();
    CHECK(names_in_graph(bytes) ==
          std::vector<std::string>{"layer.0", "layer.1__", "layer.1", "layer.1_"});
    CHECK(test::unfold(bytes) == scene.bytes);
}

TEST_CASE("fold_nodes: a call with another name is not named like another call") {
    test::placed_nodes nodes;
    nodes.add_layer(0, "/layer.0", "x", "a");
    nodes.add_layer(1, "/layer.1", "a", "b");
    nodes.add(test::node("Tanh", {"b"}, {"y"}, "layer.0"), 0);
    auto scene = nodes.scene(2, "y");
    stemma::module_tree_builder builder;
    const auto list = builder.child(0, "layer");
    for (const auto* name : {"0", "0_"}) {
        const auto layer = builder.child(list, name);
        builder.set_class(layer, "Layer", "net.Layer");
        builder.set_class(builder.child(layer, "fc"), "Linear", "net.Linear");
    }
    scene.modules = builder.build();
    CHECK(names_in_graph(scene.fold()) ==
          std::vector<std::string>{"layer.0__", "layer.0_", "layer.0"});
}

TEST_CASE("fold_nodes: captures are inputs of a call in a body, weights come last") {
    auto scene = test::branched_model();
    const auto plan = scene.plan();
    std::size_t checked = 0;
    for (id r = 0; r < plan.regions.size(); ++r) {
        if (plan.is_graph(r) || plan.graph[r] == 0 || plan.regions[r].module != 4) {
            continue;
        }
        std::vector<std::string> names;
        for (auto value : plan.inputs[r]) {
            names.emplace_back(scene.model.value_name(value));
        }
        CHECK(names ==
              std::vector<std::string>{"/layer.0/out", "layer.1.fc.weight", "layer.1.fc.bias"});
        ++checked;
    }
    CHECK(checked == 2);
}

TEST_CASE("fold_nodes: calls provide constants, bodies refer to them and pass them on") {
    auto scene = varied_layers();
    const auto folded = scene.fold();
    const stemma::wire_model model(folded, "folded");
    REQUIRE(model.functions().size() == 2);
    std::size_t calls = 0;
    for (stemma::id node = 0; node < model.node_count(); ++node) {
        const auto texts = attributes_of(model, node);
        if (model.graph_of(node) == 0) {
            const auto number = std::to_string(calls++);
            CHECK(texts == std::vector<std::string>{
                               test::text_attribute("constant_0", "s" + number).bytes(),
                               test::text_attribute("constant_1", "t" + number).bytes()});
        } else if (model.op_type(node) == "Linear" || model.op_type(node) == "Constant") {
            REQUIRE(texts.size() == 1);
            CHECK(texts[0].find(model.op_type(node) == "Linear" ? "constant_0" : "constant_") !=
                  texts[0].npos);
            CHECK(stemma::detail::read_attribute_names(
                      {texts[0].data(), 0, static_cast<std::uint32_t>(texts[0].size()), ""})
                      .reference.starts_with("constant_"));
        }
    }
    CHECK(calls == 3);
    CHECK(test::unfold(folded) == scene.bytes);
}

TEST_CASE("fold_nodes: inlining restores the constants") {
    auto scene = varied_layers();
    const auto folded = scene.fold();
    const stemma::wire_model model(folded, "folded");
    stemma::detail::function_inliner inliner(model);
    const auto inlined = inliner.build().text(folded);
    const stemma::wire_model opened(inlined, "opened");
    std::vector<std::string> constants;
    for (stemma::id node = 0; node < opened.node_count(); ++node) {
        for (const auto& text : attributes_of(opened, node)) {
            constants.push_back(text);
        }
    }
    REQUIRE(constants.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(constants[i] ==
              test::text_attribute("value_string", (i % 2 == 0 ? "s" : "t") + std::to_string(i / 2))
                  .bytes());
    }
}

} // namespace test::fold_detail_fold_nodes
