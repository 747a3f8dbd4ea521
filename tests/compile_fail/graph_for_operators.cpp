// SPDX-License-Identifier: Apache-2.0
// expect: operators: add `using graph_type` and `const graph_type& graph() const`, or wrap
// the graph in mapped_operators

// at most 24 lines
#include <stemma/core/policies.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/tagging/tagger.hpp>

#include <boost/graph/adjacency_list.hpp>

using graph_type = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

stemma::tagging run(const graph_type& graph, const stemma::module_tree& modules) {
    return stemma::tag_operators(graph, modules, stemma::policies{stemma::all_modules{}});
}
