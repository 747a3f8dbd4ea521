// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_PARAMETER_NAMES_HPP
#define STEMMA_EVIDENCE_PARAMETER_NAMES_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/bypassed_modules.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/detail/joined_modules.hpp>
#include <stemma/evidence/detail/merged_parameters.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Evidence from the parameters read: `encoder.layer.0.attention.self.query.weight`.
///
/// A witness, not a proof: the operator may belong to the owner, to an ancestor that uses the
/// parameter itself or, when the owner passes it down, to a descendant. A parameter with several
/// owners makes a claim for each, with more confidence for those that the operator's type favours;
/// of several parameters, the owners common to all count, else the common ancestor of all.
struct parameter_names {
    using policy_category = evidence_category;

    template <class Ops, class Modules>
    class claims {
    public:
        claims(const Ops& ops, const Modules& modules, const detail::parameter_owners& owners,
               const std::vector<id>& bypassed, std::span<const id> shallow,
               const std::unordered_map<id, id>& joined)
            : ops_(&ops)
            , modules_(&modules)
            , owners_(&owners)
            , bypassed_(&bypassed)
            , shallow_(shallow)
            , joined_(ops, modules, joined)
            , tied_(ops, owners) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            id first = no_id; // first parameter with owners
            bool several = false;
            ops_->for_each_parameter(vertex, [&](id p) {
                if (p != first && !owners_->of(p).empty()) {
                    several = first != no_id;
                    first = several ? first : p;
                }
            });
            if (first == no_id || passes_fused_on(vertex, first)) {
                return;
            }
            const auto owners = owners_->of(first);
            const auto say = [&](id owner, float confidence) {
                const auto runner = detail::past_bypassed(*modules_, *bypassed_, owner);
                const auto module =
                    joined_.around(vertex, detail::nearest_called(*modules_, runner));
                f(claim{module, no_id, confidence, provenance::parameter,
                        is_below_shallow(module)});
            };
            if (several && owners_differ(vertex, owners)) {
                const auto joined = join_owners(vertex, owners);
                std::for_each(joined.begin(), joined.end(),
                              [&](id owner) { say(owner, detail::confidence::parameter); });
            } else {
                for (std::size_t i = 0; i < owners.size(); ++i) {
                    say(owners[i], tied_.favours(vertex, first, i)
                                       ? detail::confidence::parameter
                                       : detail::confidence::tied_parameter);
                }
            }
        }

    private:
        /// Whether an operator only converts a parameter that was fused from those of several
        /// modules, and so belongs where that is read.
        [[nodiscard]] bool passes_fused_on(operator_t<Ops> vertex, id p) const {
            return detail::passes_parameter_on(*ops_, vertex) &&
                   detail::is_fused_name(ops_->parameter_name(p));
        }

        /// Whether names and metadata stop at an ancestor, so that parameters say more.
        [[nodiscard]] bool is_below_shallow(id module) const {
            return std::any_of(shallow_.begin(), shallow_.end(), [&](id m) {
                return m != module && modules_->index().is_ancestor(m, module);
            });
        }

        // Code needed only for operators with several parameters is kept out of line: in the loop
        // over operators it would take registers from the others.

        /// Returns: whether some parameter with owners has different ones.
        [[nodiscard, gnu::noinline]] bool owners_differ(operator_t<Ops> vertex,
                                                        std::span<const id> first) const {
            bool differ = false;
            ops_->for_each_parameter(vertex, [&](id p) {
                const auto owners = owners_->of(p);
                differ = differ || (!owners.empty() && !std::equal(owners.begin(), owners.end(),
                                                                   first.begin(), first.end()));
            });
            return differ;
        }

        /// Returns: the owners common to all parameters, else the common ancestor of all.
        [[nodiscard, gnu::noinline]] std::vector<id>
        join_owners(operator_t<Ops> vertex, std::span<const id> candidates) const {
            std::vector<id> common(candidates.begin(), candidates.end());
            ops_->for_each_parameter(vertex, [&](id p) {
                const auto owners = owners_->of(p);
                if (!owners.empty()) {
                    std::erase_if(common, [&](id m) {
                        return std::find(owners.begin(), owners.end(), m) == owners.end();
                    });
                }
            });
            if (common.empty()) {
                common.push_back(
                    detail::owners_read(*ops_, *owners_, vertex).get(modules_->index()));
            }
            return common;
        }

        const Ops* ops_;
        const Modules* modules_;
        const detail::parameter_owners* owners_;
        const std::vector<id>* bypassed_;
        std::span<const id> shallow_; // where names and metadata stop short
        detail::joined_modules<Ops, Modules> joined_;
        detail::tied_parameters<Ops> tied_;
    };

    /// Requires: the context outlives the claims.
    template <parameter_readers Ops, module_view Modules>
    [[nodiscard]] claims<Ops, Modules> prepare(evidence_context<Ops, Modules>& context) const {
        std::span<const id> shallow;
        if constexpr (named_operators<Ops>) {
            shallow = context.shallow();
        }
        return {context.ops(),      context.modules(), context.owners(),
                context.bypassed(), shallow,           context.joined()};
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_PARAMETER_NAMES_HPP
