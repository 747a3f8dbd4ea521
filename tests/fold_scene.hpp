// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_FOLD_SCENE_HPP
#define STEMMA_TESTS_FOLD_SCENE_HPP

#include "wire_builder.hpp"

#include <stemma/fold/detail/fold_opener.hpp>
#include <stemma/fold/detail/fold_writer.hpp>
#include <stemma/fold/fold.hpp>
#include <stemma/fold/node_shapes.hpp>
#include <stemma/fold/plan_fold.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/tagging/name_modules.hpp>
#include <stemma/tagging/selection.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test {

/// A model in memory with the module of each node; tags and plan follow from it.
struct fold_scene {
    std::string bytes;
    stemma::module_tree modules;
    std::vector<stemma::attribution> attributions;
    stemma::fold_options<> options{.selection = stemma::of_classes{{"Layer", "Linear"}}};

    stemma::wire_model model{bytes};
    stemma::graph_contents contents{model};
    stemma::node_shapes shapes{model, contents};

    [[nodiscard]] stemma::detail::fold_plan plan() {
        return stemma::plan_fold(model, contents, modules, attributions, shapes, options);
    }

    /// Returns: the folded file.
    [[nodiscard]] std::string fold() {
        const auto planned = plan();
        const auto tags = stemma::name_modules(modules, stemma::all_modules{});
        stemma::detail::fold_writer writer(model, contents, modules, tags, attributions, planned);
        stemma::detail::string_splice splice(bytes);
        writer.build().write(splice);
        return std::move(splice.text);
    }
};

/// Returns: the unfolded file.
inline std::string unfold(const std::string& folded) {
    const stemma::wire_model model(folded, "folded");
    const stemma::graph_contents contents(model);
    stemma::detail::fold_opener opener(model, contents,
                                       stemma::detail::find_fold_record(model).value());
    stemma::detail::string_splice splice(folded);
    opener.build().write(splice);
    return std::move(splice.text);
}

/// Returns: the tree of `layer.0` to `layer.<count - 1>`, each with a `fc`, of class Layer.
inline stemma::module_tree layers(std::size_t count) {
    stemma::module_tree_builder builder;
    const auto list = builder.child(0, "layer");
    for (std::size_t i = 0; i < count; ++i) {
        const auto layer = builder.child(list, std::to_string(i));
        builder.set_class(layer, "Layer", "net.Layer");
        builder.set_class(builder.child(layer, "fc"), "Linear", "net.Linear");
    }
    return builder.build();
}

/// Returns: a model with that many layers of MatMul, Add (the `fc`) and Relu, and the modules of
/// its nodes.
inline fold_scene layered_model(std::size_t count, std::uint64_t ir_version = 8) {
    message graph;
    std::vector<stemma::attribution> where;
    const auto modules = layers(count);
    std::string flowing = "x";
    for (std::size_t i = 0; i < count; ++i) {
        const auto path = "layer." + std::to_string(i);
        const auto scope = "/layer/layer." + std::to_string(i);
        const auto value = [&](const std::string& of) { return scope + of + "_output_0"; };
        graph.inner(1, node("MatMul", {flowing, path + ".fc.weight"}, {value("/fc/MatMul")},
                            scope + "/fc/MatMul"));
        graph.inner(1, node("Add", {value("/fc/MatMul"), path + ".fc.bias"}, {value("/fc/Add")},
                            scope + "/fc/Add"));
        flowing = i + 1 == count ? "y" : value("/Relu");
        graph.inner(1, node("Relu", {value("/fc/Add")}, {flowing}, scope + "/Relu"));
        const auto layer = static_cast<stemma::id>(2 + 2 * i);
        for (auto m : {layer + 1, layer + 1, layer}) {
            where.push_back({m, stemma::no_id, 1, stemma::provenance::scope, false});
        }
    }
    graph.text(2, "layers");
    for (std::size_t i = 0; i < count; ++i) {
        graph.inner(5, tensor("layer." + std::to_string(i) + ".fc.weight"));
        graph.inner(5, tensor("layer." + std::to_string(i) + ".fc.bias"));
    }
    graph.inner(11, value_info("x")).inner(12, value_info("y"));
    return {message().number(1, ir_version).inner(7, graph).inner(8, opset("", 17)).bytes(),
            modules, where};
}

/// The nodes of a graph, and their modules; those of bodies precede their owner.
struct placed_nodes {
    std::vector<message> nodes{};
    std::vector<stemma::attribution> where{};

    void add(message node, stemma::id module) {
        nodes.push_back(std::move(node));
        where.push_back({module, stemma::no_id, 1, stemma::provenance::scope, false});
    }

    /// MatMul and Add of a `fc`, then Relu of its layer, which has this number.
    void add_layer(std::size_t layer, const std::string& scope, const std::string& in,
                   const std::string& out) {
        const auto module = static_cast<stemma::id>(2 + 2 * layer);
        const auto path = "layer." + std::to_string(layer);
        add(node("MatMul", {in, path + ".fc.weight"}, {scope + "/m"}, scope + "/MatMul"),
            module + 1);
        add(node("Add", {scope + "/m", path + ".fc.bias"}, {scope + "/a"}, scope + "/Add"),
            module + 1);
        add(node("Relu", {scope + "/a"}, {out}, scope + "/Relu"), module);
    }

    /// An If with two equal branches.
    void add_branches(const placed_nodes& body, const std::string& result, const std::string& out,
                      stemma::id module) {
        const auto inside = graph(body.nodes, {}, {result});
        for (int branch = 0; branch < 2; ++branch) {
            where.insert(where.end(), body.where.begin(), body.where.end());
        }
        add(owner_node(
                "If", {"cond"}, {out},
                {graph_attribute("then_branch", inside), graph_attribute("else_branch", inside)},
                "/If_" + out),
            module);
    }

    /// Makes it the main graph of a model with that many layers.
    [[nodiscard]] fold_scene scene(std::size_t layers_count, const std::string& result) const {
        names weights;
        for (std::size_t i = 0; i < layers_count; ++i) {
            weights.push_back("layer." + std::to_string(i) + ".fc.weight");
            weights.push_back("layer." + std::to_string(i) + ".fc.bias");
        }
        return {model(graph(nodes, {"x", "cond"}, {result}, weights)).bytes(), layers(layers_count),
                where};
    }
};

/// Returns: a model whose first layer is in the main graph, the second one in the branches of an
/// If, and the third one in those of a nested If.
inline fold_scene branched_model() {
    placed_nodes innermost;
    innermost.add_layer(2, "/layer.2", "/layer.1/out", "/layer.2/out");
    placed_nodes branch;
    branch.add_layer(1, "/layer.1", "/layer.0/out", "/layer.1/out");
    branch.add_branches(innermost, "/layer.2/out", "inner", 0);
    placed_nodes main;
    main.add_layer(0, "/layer.0", "x", "/layer.0/out");
    main.add_branches(branch, "inner", "y", 0);
    return main.scene(3, "y");
}

/// Returns: a model of two layers, each an If with the `fc` in its branches: these differ only in
/// what they capture.
inline fold_scene deciding_layers() {
    placed_nodes main;
    for (std::size_t i = 0; i < 2; ++i) {
        const auto number = std::to_string(i);
        const auto path = "layer." + number;
        const auto module = static_cast<stemma::id>(2 + 2 * i);
        const std::string in = i == 0 ? "x" : "y0";
        placed_nodes branch;
        branch.add(node("MatMul", {"a" + number, path + ".fc.weight"}, {"m"}, "MatMul"),
                   module + 1);
        branch.add(node("Add", {"m", path + ".fc.bias"}, {"s"}, "Add"), module + 1);
        branch.add(node("Neg", {"s"}, {"n"}, "Neg"), module);
        main.add(node("Relu", {in}, {"a" + number}, "/layer." + number + "/Relu"), module);
        main.add_branches(branch, "n", "y" + number, module);
    }
    return main.scene(2, "y1");
}

} // namespace test

#endif // STEMMA_TESTS_FOLD_SCENE_HPP
