// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_FUNCTION_CALLS_HPP
#define STEMMA_EVIDENCE_FUNCTION_CALLS_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/call_resolver.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <utility>

namespace stemma::inline STEMMA_ABI {

/// Evidence from local functions: calls, and the operators in bodies, once for every module that
/// the function is called for. The body of a function that is never called, or about which nothing
/// is known, belongs to the root. A module without children contains nothing deeper, so what runs
/// there is surely its own. If every module is a function, anything outside functions belongs to
/// the root.
struct function_calls {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, const tree_index& tree, detail::modules_of_calls modules)
            : ops_(&ops), tree_(&tree), modules_(std::move(modules)) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            const auto say = [&](id module, float confidence, bool exact) {
                f(claim{module, no_id, confidence, provenance::function, exact, no_id});
            };
            if constexpr (calling_operators<Ops>) {
                const bool call = ops_->callee(vertex) != no_id;
                if (!call && ops_->enclosing_function(vertex) == no_id) {
                    if (modules_.every_module) {
                        say(0, detail::confidence::main_graph, true);
                    }
                    return;
                }
                const auto entry =
                    modules_.all.find(static_cast<id>(detail::index_of(ops_->graph(), vertex)));
                if (entry == modules_.all.end()) {
                    if (ops_->enclosing_function(vertex) != no_id) {
                        say(0, detail::confidence::foreign_function, false);
                    }
                    return;
                }
                for (auto module : entry->second) {
                    const bool leaf = tree_->is_leaf(module);
                    say(module,
                        call   ? detail::confidence::function_call
                        : leaf ? detail::confidence::function_leaf
                               : detail::confidence::function_body,
                        call);
                }
            }
        }

        /// Returns: the module of vertex index `v` when the enclosing function is called for module
        /// `around` (`no_id`: in the main graph, or for an unknown one); `no_id` if unknown.
        /// Complexity: O(1) on average.
        [[nodiscard]] id module_of(id v, id around) const {
            const auto entry = modules_.by_caller.find(detail::modules_of_calls::key(v, around));
            return entry == modules_.by_caller.end() ? no_id : entry->second;
        }

    private:
        const Ops* ops_;
        const tree_index* tree_;
        detail::modules_of_calls modules_;
    };

    /// Complexity: linear in operators, and in function bodies times the modules each is called
    /// for.
    template <operator_view Ops, module_view Modules>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        if constexpr (calling_operators<Ops>) {
            if (context.ops().function_count() > 0) {
                return {context.ops(), context.index(),
                        detail::call_resolver<Ops, Modules>(context).take()};
            }
        }
        return {context.ops(), context.index(), {}};
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_FUNCTION_CALLS_HPP
