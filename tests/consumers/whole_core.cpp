// SPDX-License-Identifier: Apache-2.0
// Uses all of the core like a user's program: a custom graph, tagged by names.
#include "other_unit.hpp"

#include <stemma/core.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <iostream>
#include <string>

namespace {

struct task {
    std::string name;
};

using task_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, task>;

} // namespace

int main() {
    task_graph graph;
    const auto first = add_vertex(task{"/engine/pump/Start"}, graph);
    const auto second = add_vertex(task{""}, graph);
    const auto third = add_vertex(task{"/engine/pump/Stop"}, graph);
    add_edge(first, second, graph);
    add_edge(second, third, graph);
    const stemma::mapped_operators ops(graph, get(&task::name, graph), get(&task::name, graph));
    const auto modules = stemma::rebuild_tree(ops).modules;
    const auto tagged = stemma::tag_operators(ops, modules);
    const auto path = modules.path(tagged.attributions[second].module);
    std::cout << path << "\n";
    return path == "engine.pump" && other_unit() == modules.path(2) ? 0 : 1;
}
