// SPDX-License-Identifier: Apache-2.0
// expect: graph of operators: add `in_edges(v, g)`; an adjacency_list has it with
// `boost::bidirectionalS`

// at most 24 lines
#include <stemma/tagging/propagate.hpp>
#include <stemma/tagging/propagation.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <span>

struct operators {
    using graph_type = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

    [[nodiscard]] const graph_type& graph() const;
};

void run(const operators& ops, const stemma::tree_index& modules,
         std::span<stemma::attribution> result) {
    stemma::propagate(ops, modules, result, stemma::consumers_only{});
}
