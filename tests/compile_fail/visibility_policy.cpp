// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/visibility.hpp>

#include <stemma/model/operator_graph.hpp>

struct operators {
    using graph_type = stemma::operator_graph;

    const stemma::operator_graph& graph() const;
};

struct members {
    bool shows(const operators&, stemma::id) const;
};

struct complete : members {
    using policy_category = stemma::visibility_category;
};

// role: visibility, operators

// expect: visibility policy: add `bool shows(const Ops&, operator) const`
struct without_members {
    using policy_category = stemma::visibility_category;
};
static_assert(stemma::explain_policy<stemma::visibility_category, without_members, operators>());

// expect: visibility policy: add `bool shows(const Ops&, operator) const`
struct shows_not_const : complete {
    bool shows(const operators&, stemma::id);
};
static_assert(stemma::explain_policy<stemma::visibility_category, shows_not_const, operators>());

struct shows_all : complete {
    bool shows(const operators&) const;
};
static_assert(stemma::explain_policy<stemma::visibility_category, shows_all, operators>());
