// SPDX-License-Identifier: Apache-2.0
// The generic core in use: a custom policy, and propagation over a custom Boost graph.
#include <stemma/core/tree_index.hpp>
#include <stemma/tagging/propagate.hpp>
#include <stemma/tagging/propagation.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <iostream>
#include <span>
#include <vector>

namespace {

struct tasks {
    using graph_type = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

    [[nodiscard]] const graph_type& graph() const { return edges; }

    graph_type edges{3};
};

/// The default, at half the confidence.
struct doubtful {
    using policy_category = stemma::propagation_category;

    template <stemma::operator_view Ops>
    void propagate(const stemma::propagation_problem<Ops>& problem,
                   std::span<stemma::attribution> result) const {
        stemma::both_sides{}.propagate(problem, result);
        for (auto& one : result) {
            one.confidence = one.confidence / 2;
        }
    }
};

} // namespace

int main() {
    tasks ops;
    add_edge(0, 1, ops.edges);
    add_edge(1, 2, ops.edges);
    const stemma::tree_index modules(std::vector<stemma::id>{stemma::no_id, 0, 1, 0});
    std::vector<stemma::attribution> result(3);
    result[0].module = 2;
    stemma::propagate(ops, modules, result, doubtful{});
    for (const auto& one : result) {
        std::cout << one.module << " (" << to_string(one.source) << ")\n";
    }
}
