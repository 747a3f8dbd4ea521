// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/policies.hpp>
#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/model/mapped_operators.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/tagging/tagger.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <string>

struct task {
    std::string name;
};

// compiles
using task_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, task>;

stemma::tagging run(const task_graph& graph) {
    const stemma::mapped_operators ops(graph, get(&task::name, graph), get(&task::name, graph));
    const auto rebuilt = stemma::rebuild_tree(ops);
    return stemma::tag_operators(ops, rebuilt.modules);
}

// expect: graph of operators: add `in_edges(v, g)`; an adjacency_list has it with
// `boost::bidirectionalS`

// at most 24 lines
using directed_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, task>;

stemma::tagging run(const directed_graph& graph) {
    const stemma::mapped_operators ops(graph, get(&task::name, graph), get(&task::name, graph));
    const auto rebuilt = stemma::rebuild_tree(ops);
    return stemma::tag_operators(ops, rebuilt.modules);
}

// expect: graph of operators: add a `vertex_index` from 0; an adjacency_list has it with
// `boost::vecS` for vertices, or as a property of these

// at most 24 lines
using listed_graph = boost::adjacency_list<boost::vecS, boost::listS, boost::bidirectionalS, task>;

stemma::tagging run(const listed_graph& graph) {
    const stemma::mapped_operators ops(graph, get(&task::name, graph), get(&task::name, graph));
    const auto rebuilt = stemma::rebuild_tree(ops);
    return stemma::tag_operators(ops, rebuilt.modules);
}

// expect: operators: add `using graph_type` and `const graph_type& graph() const`, or wrap
// the graph in mapped_operators

// at most 24 lines
using plain_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

stemma::tagging run(const plain_graph& graph, const stemma::module_tree& modules) {
    return stemma::tag_operators(graph, modules, stemma::policies{stemma::all_modules{}});
}
