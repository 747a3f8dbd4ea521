// SPDX-License-Identifier: Apache-2.0
// expect: propagation policy: add `void propagate(const stemma::propagation_problem<Ops>&,
// std::span<stemma::attribution>) const`
#include <stemma/policy/propagation.hpp>

#include <stemma/model/operator_graph.hpp>

#include <span>

struct operators {
    using graph_type = stemma::operator_graph;

    [[nodiscard]] const stemma::operator_graph& graph() const;
};

struct mine {
    using policy_category = stemma::propagation_category;

    void propagate(const stemma::propagation_problem<operators>&, std::span<stemma::attribution>);
};

static_assert(stemma::explain_propagation_policy<mine, operators>());
