// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_POLICIES_SMALL_MODEL_HPP
#define STEMMA_EXAMPLES_POLICIES_SMALL_MODEL_HPP

#include <stemma/model/mapped_operators.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/tagging/tagger.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <iostream>
#include <string>
#include <vector>

/// One operator of the small model.
struct operation {
    std::string name;
    std::string type;
    std::vector<std::string> parameters;
};

using small_graph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, operation>;

/// A chain of operators: a stem, a block called twice, a head; some without names.
inline small_graph make_graph() {
    const std::vector<operation> operations{
        {"/stem/conv/Conv", "Conv", {"stem.conv.weight"}},
        {"", "Relu", {}},
        {"/blocks.0/fc/MatMul", "MatMul", {"blocks.0.fc.weight"}},
        {"/blocks.0/Gelu", "Gelu", {}},
        {"/blocks.1/fc/MatMul", "MatMul", {"blocks.1.fc.weight"}},
        {"", "Gelu", {}},
        {"/head/MatMul", "MatMul", {"head.weight"}},
    };
    small_graph graph;
    for (const auto& one : operations) {
        const auto v = add_vertex(one, graph);
        if (v > 0) {
            add_edge(v - 1, v, graph);
        }
    }
    return graph;
}

inline auto view_of(const small_graph& graph) {
    return stemma::mapped_operators(graph, get(&operation::name, graph),
                                    get(&operation::type, graph),
                                    get(&operation::parameters, graph));
}

/// The modules that the operators come from.
inline stemma::module_tree make_modules() {
    stemma::module_tree_builder builder;
    builder.set_class(0, "Net", "zoo.Net");
    builder.set_class(builder.at_path("stem"), "Stem", "zoo.Stem");
    builder.set_class(builder.at_path("stem.conv"), "Conv2d", "torch.nn.Conv2d");
    builder.set_class(builder.at_path("blocks"), "ModuleList", "torch.nn.ModuleList");
    for (const std::string block : {"blocks.0", "blocks.1"}) {
        builder.set_class(builder.at_path(block), "Block", "zoo.Block");
        builder.set_class(builder.at_path(block + ".fc"), "Linear", "torch.nn.Linear");
    }
    builder.set_class(builder.at_path("head"), "Linear", "torch.nn.Linear");
    return builder.build();
}

/// Prints the tag of every operator, with the evidence.
inline void print(const small_graph& graph, const stemma::module_tree& modules,
                  const stemma::tagging& tagged) {
    for (std::size_t v = 0; v < num_vertices(graph); ++v) {
        const auto& attribution = tagged.attributions[v];
        std::cout << graph[v].type << ": " << tagged.tags.text(attribution.module) << " ("
                  << modules.path(attribution.module) << ", " << to_string(attribution.source)
                  << ")\n";
    }
}

#endif // STEMMA_EXAMPLES_POLICIES_SMALL_MODEL_HPP
