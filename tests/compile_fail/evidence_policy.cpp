// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/evidence.hpp>

#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>

using stemma::evidence_category;
using stemma::explain_policy;

using modules = stemma::module_tree;

struct operators {
    using graph_type = stemma::operator_graph;

    const stemma::operator_graph& graph() const;
};

struct claims {
    template <class Function>
    void for_each_claim(stemma::id, Function) const;
};

struct members {
    claims prepare(stemma::evidence_context<operators, modules>&) const;
};

struct complete : members {
    using policy_category = stemma::evidence_category;
};

// role: evidence, operators, modules

// expect: evidence policy: add `auto prepare(stemma::evidence_context<Ops, Modules>&) const`
struct without_members {
    using policy_category = stemma::evidence_category;
};
static_assert(explain_policy<evidence_category, without_members, operators, modules>());

// expect: evidence policy: add `auto prepare(stemma::evidence_context<Ops, Modules>&) const`
struct prepare_not_const : complete {
    claims prepare(stemma::evidence_context<operators, modules>&);
};
static_assert(explain_policy<evidence_category, prepare_not_const, operators, modules>());

struct prepare_without_context : complete {
    claims prepare(const operators&, const modules&) const;
};
static_assert(explain_policy<evidence_category, prepare_without_context, operators, modules>());

// expect: evidence policy: the result of prepare() needs `void for_each_claim(vertex, Function)
// const`
struct prepares_a_number : complete {
    int prepare(stemma::evidence_context<operators, modules>&) const;
};
static_assert(explain_policy<evidence_category, prepares_a_number, operators, modules>());

struct claims_not_const {
    template <class Function>
    void for_each_claim(stemma::id, Function);
};
struct prepares_not_const : complete {
    claims_not_const prepare(stemma::evidence_context<operators, modules>&) const;
};
static_assert(explain_policy<evidence_category, prepares_not_const, operators, modules>());
