// SPDX-License-Identifier: Apache-2.0
// expect: visibility policy: add `bool shows(const Ops&, operator) const`
#include <stemma/policy/visibility.hpp>

#include <stemma/model/operator_graph.hpp>

struct operators {
    using graph_type = stemma::operator_graph;

    [[nodiscard]] const stemma::operator_graph& graph() const;
};

struct mine {
    using policy_category = stemma::visibility_category;

    [[nodiscard]] bool shows(const operators&) const;
};

static_assert(stemma::explain_visibility_policy<mine, operators>());
