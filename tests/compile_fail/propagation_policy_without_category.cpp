// SPDX-License-Identifier: Apache-2.0
// expect: propagation policy: add `using policy_category = stemma::propagation_category;`
#include <stemma/policy/propagation.hpp>

#include <stemma/model/operator_graph.hpp>

#include <span>

struct operators {
    using graph_type = stemma::operator_graph;

    [[nodiscard]] const stemma::operator_graph& graph() const;
};

struct mine {
    void propagate(const stemma::propagation_problem<operators>&,
                   std::span<stemma::attribution>) const;
};

static_assert(stemma::explain_propagation_policy<mine, operators>());
