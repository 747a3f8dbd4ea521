// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/propagation.hpp>

#include <stemma/model/operator_graph.hpp>

#include <span>

using stemma::explain_policy;
using stemma::propagation_category;

struct operators {
    using graph_type = stemma::operator_graph;

    const stemma::operator_graph& graph() const;
};

struct members {
    void propagate(const stemma::propagation_problem<operators>&,
                   std::span<stemma::attribution>) const;
};

struct complete : members {
    using policy_category = stemma::propagation_category;
};

// role: propagation, operators

// expect: propagation policy: add `void propagate(const stemma::propagation_problem<Ops>&,
// std::span<stemma::attribution>) const`
struct without_members {
    using policy_category = stemma::propagation_category;
};
static_assert(explain_policy<propagation_category, without_members, operators>());

// expect: propagation policy: add `void propagate(const stemma::propagation_problem<Ops>&,
// std::span<stemma::attribution>) const`
struct propagate_not_const : complete {
    void propagate(const stemma::propagation_problem<operators>&, std::span<stemma::attribution>);
};
static_assert(explain_policy<propagation_category, propagate_not_const, operators>());

struct propagate_operators : complete {
    void propagate(const operators&, std::span<stemma::attribution>) const;
};
static_assert(explain_policy<propagation_category, propagate_operators, operators>());
