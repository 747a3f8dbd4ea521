// SPDX-License-Identifier: Apache-2.0
// expect: evidence policy: add `using policy_category = stemma::evidence_category;`
#include <stemma/policy/evidence.hpp>

#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>

struct operators {
    using graph_type = stemma::operator_graph;

    [[nodiscard]] const stemma::operator_graph& graph() const;
};

struct claims {
    template <class Function>
    void for_each_claim(stemma::id, Function) const;
};

struct mine {
    using policy_category = stemma::cut_category;

    [[nodiscard]] claims prepare(stemma::evidence_context<operators, stemma::module_tree>&) const;
};

static_assert(stemma::explain_evidence_policy<mine, operators, stemma::module_tree>());
