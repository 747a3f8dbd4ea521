// SPDX-License-Identifier: Apache-2.0
// Propagation: where do operators without evidence belong? Here to the parent of their producers'
// module, so that an activation is not part of a layer.
#include "small_model.hpp"

#include <stemma/tagging/propagate.hpp>
#include <stemma/tagging/propagation.hpp>

#include <span>

struct around_producers {
    using policy_category = stemma::propagation_category;

    template <stemma::operator_view Ops>
    void propagate(const stemma::propagation_problem<Ops>& problem,
                   std::span<stemma::attribution> result) const {
        const auto above = stemma::common_producer_modules(problem);
        for (stemma::id v = 0; v < result.size(); ++v) {
            if (problem.evidence[v] == stemma::no_id) {
                const auto module = above[v] == stemma::no_id ? 0 : above[v];
                result[v] = {module == 0 ? 0 : problem.modules.parent(module), stemma::no_id, 0.5F,
                             stemma::provenance::producer, false};
            }
        }
    }
};

int main() {
    const auto graph = make_graph();
    const auto ops = view_of(graph);
    static_assert(
        stemma::explain_policy<stemma::propagation_category, around_producers, decltype(ops)>());
    const auto modules = make_modules();
    print(graph, modules,
          stemma::tag_operators(ops, modules, stemma::policies{around_producers{}}));
}
