// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_SCOPE_NAMES_HPP
#define STEMMA_EVIDENCE_SCOPE_NAMES_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <span>

namespace stemma::inline STEMMA_ABI {

/// Evidence from scoped names: `/encoder/layer.0/attention/self/query/MatMul`. Names of calls are
/// left to `function_calls`.
struct scope_names {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, const detail::scope_table& table, const detail::scope_modules& bound,
               std::span<const id> shallow)
            : ops_(&ops), table_(&table), bound_(&bound), shallow_(shallow) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            const auto v = static_cast<id>(detail::index_of(ops_->graph(), vertex));
            const auto scope = table_->scope_of[v];
            if (scope == no_id ||
                std::binary_search(table_->leftover.begin(), table_->leftover.end(), v)) {
                return;
            }
            if constexpr (calling_operators<Ops>) {
                if (ops_->callee(vertex) != no_id) {
                    return;
                }
            }
            const auto& bound = bound_->of(v, scope);
            if (bound.module != no_id) {
                claim candidate{bound.module, bound.call, bound.confidence, provenance::scope,
                                true};
                candidate.caller = bound.caller;
                if (std::binary_search(shallow_.begin(), shallow_.end(), bound.module)) {
                    candidate.exact = false;
                    candidate.confidence =
                        std::min(candidate.confidence, detail::confidence::shallow);
                }
                f(candidate);
            }
        }

    private:
        const Ops* ops_;
        const detail::scope_table* table_;
        const detail::scope_modules* bound_;
        std::span<const id> shallow_; // where names stop short
    };

    /// Requires: the context outlives the claims.
    template <named_operators Ops, module_view Modules>
        requires parameter_readers<Ops>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        return {context.ops(), context.scopes(), context.modules_of_scopes(), context.shallow()};
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_SCOPE_NAMES_HPP
