// SPDX-License-Identifier: Apache-2.0
// expect: graph of operators: add `in_edges(v, g)`; an adjacency_list has it with
// `boost::bidirectionalS`

// at most 24 lines
#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/model/mapped_operators.hpp>
#include <stemma/tagging/tagger.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <string>

struct task {
    std::string name;
};

using graph_type = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, task>;

stemma::tagging run(const graph_type& graph) {
    const stemma::mapped_operators ops(graph, get(&task::name, graph), get(&task::name, graph));
    const auto rebuilt = stemma::rebuild_tree(ops);
    return stemma::tag_operators(ops, rebuilt.modules);
}
