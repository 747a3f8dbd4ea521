// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_REGION_FACTS_HPP
#define STEMMA_EVIDENCE_DETAIL_REGION_FACTS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/bypassed_modules.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/owner_paths.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/tied_parameters.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/detail/nesting.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What is known about operators before looking at their neighbours. All by vertex index.
template <operator_view Ops, module_view Modules>
class region_facts {
public:
    std::vector<id> owner;  ///< the module whose parameters it reads, or that its name denotes
    std::vector<id> named;  ///< from metadata or a name
    std::vector<id> reads;  ///< `owner`, except for operators that only run readers of parameters
    std::vector<bool> bare; ///< only parameters can show where it comes from
    std::vector<bool> products; ///< it reads a weight
    std::vector<bool> lost;     ///< it reads a weight whose name is lost, or stands for several
    std::vector<bool> attends;  ///< by module: it uses its child's parameters itself
    std::vector<bool> computes; ///< by module: operators read its parameters, each another one

    /// Complexity: O(V + E).
    explicit region_facts(evidence_context<Ops, Modules>& context)
        : owner(num_vertices(context.ops().graph()), no_id)
        , named(owner.size(), no_id)
        , bare(owner.size())
        , products(owner.size())
        , lost(owner.size())
        , attends(context.index().size())
        , computes(context.index().size())
        , ops_(context.ops())
        , modules_(context.modules())
        , tree_(context.index())
        , owners_(context.owners())
        , bypassed_(context.bypassed())
        , tied_(ops_, owners_)
        , weights_(mark_matrices(ops_))
        , paths_(owner_paths(ops_)) {
        for (auto m : bypassed_) {
            attends[tree_.parent(m)] = true;
        }
        const auto& scopes = context.scopes();
        const auto& chains = context.hierarchies().chain_of;
        const auto& steady = context.independent();
        for (auto [it, last] = vertices(ops_.graph()); it != last; ++it) {
            const auto v = index_of(ops_.graph(), *it);
            bool has_name = scopes.scope_of[v] != no_id || (!chains.empty() && chains[v] != no_id);
            if constexpr (calling_operators<Ops>) {
                has_name =
                    has_name || ops_.callee(*it) != no_id || ops_.enclosing_function(*it) != no_id;
            }
            bare[v] = !has_name;
            owner[v] = owner_of(*it);
            named[v] = named_module(context, v);
            // Data-independent operators carry the name of whichever module first needed them.
            owner[v] = named[v] != no_id && !steady[v] ? named[v] : owner[v];
            note_weights(*it, v);
        }
        find_spread_reads();
        reads = owner;
        hear_bodies();
    }

private:
    /// Returns: the module in the metadata or the name of an operator, or `no_id`.
    [[nodiscard]] static id named_module(evidence_context<Ops, Modules>& context, std::size_t v) {
        const auto& chains = context.hierarchies().chain_of;
        if (!chains.empty() && chains[v] != no_id) {
            const auto& place = context.modules_of_hierarchies().of_chain[chains[v]];
            return place.exact ? place.module : no_id;
        }
        const auto scope = context.scopes().scope_of[v];
        return scope == no_id ? no_id
                              : context.modules_of_scopes().of(static_cast<id>(v), scope).module;
    }

    [[nodiscard]] id owner_of(operator_t<Ops> v) const {
        id module = no_id;
        ops_.for_each_parameter(v, [&](id p) {
            const auto owners = owners_.of(p);
            for (std::size_t i = 0; i < owners.size(); ++i) {
                if (tied_.favours(v, p, i)) {
                    const auto runner = past_bypassed(modules_, bypassed_, owners[i]);
                    module = module == no_id ? runner : tree_.lca(module, runner);
                }
            }
        });
        return module;
    }

    /// Records whether an operator reads weights, and whether it reads one whose name is lost, or a
    /// parameter whose name counts for nobody, as equal ones were merged: both belong to some
    /// unknown module. Other constants without an owner are no evidence.
    void note_weights(operator_t<Ops> vertex, std::size_t v) {
        if constexpr (sized_parameters<Ops>) {
            ops_.for_each_parameter(vertex, [&](id p) {
                products[v] = products[v] || weights_[p];
                lost[v] = lost[v] || ((weights_[p] || !paths_[p].empty()) &&
                                      owners_.of(p).empty() && owner[v] == no_id && bare[v]);
            });
        }
    }

    /// One call of a module that computes with its parameters itself reads each of them once, most
    /// often at several operators; further calls would read the same ones again.
    void find_spread_reads() {
        std::vector<id> reader(ops_.parameter_count(), no_id);
        std::vector<id> first(computes.size(), no_id);
        std::vector<bool> repeats(computes.size(), false);
        for (auto [it, last] = vertices(ops_.graph()); it != last; ++it) {
            const auto v = static_cast<id>(index_of(ops_.graph(), *it));
            ops_.for_each_parameter(*it, [&](id p) {
                for (auto m : owners_.of(p)) {
                    repeats[m] = repeats[m] || (reader[p] != no_id && reader[p] != v);
                    computes[m] = computes[m] || (first[m] != no_id && first[m] != v);
                    first[m] = v;
                }
                reader[p] = v;
            });
        }
        for (std::size_t m = 0; m < computes.size(); ++m) {
            computes[m] = computes[m] && !repeats[m];
        }
    }

    /// The owner of a body runs whatever parameters are read in it.
    void hear_bodies() {
        const auto inner = operators_in_bodies(ops_);
        std::vector<common_module> inside(inner.empty() ? 0 : owner.size());
        const auto settle = [&](id v) {
            if (owner[v] == no_id && bare[v]) {
                owner[v] = inside[v].get(tree_);
            }
        };
        for (auto op = inner.rbegin(); op != inner.rend(); ++op) {
            settle(op->v);
            inside[op->owner].add(owner[op->v] == no_id ? no_id : around(tree_, owner[op->v]));
        }
        for (const auto& op : inner) {
            settle(op.owner);
        }
    }

    const Ops& ops_;
    const Modules& modules_;
    const tree_index& tree_;
    const parameter_owners& owners_;
    const std::vector<id>& bypassed_;
    tied_parameters<Ops> tied_;
    std::vector<bool> weights_;           // by parameter
    std::vector<std::string_view> paths_; // by parameter: of its owner, by name
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_REGION_FACTS_HPP
