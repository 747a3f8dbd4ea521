// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_EVIDENCE_CONTEXT_HPP
#define STEMMA_EVIDENCE_EVIDENCE_CONTEXT_HPP

#include <stemma/algorithm/sweeps.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/evidence/hierarchy_modules.hpp>
#include <stemma/evidence/hierarchy_table.hpp>
#include <stemma/evidence/merged_parameters.hpp>
#include <stemma/evidence/parameter_owners.hpp>
#include <stemma/evidence/scope_modules.hpp>
#include <stemma/evidence/scope_table.hpp>
#include <stemma/evidence/shallow_modules.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace stemma {

/// What sources of evidence read: the operators, the modules, and facts that several of them need,
/// each found when it is first asked for.
template <operator_view Ops, module_view Modules>
class evidence_context {
public:
    /// Requires: both outlive the context; several threads may read them at once, and ask what
    ///   sources prepare, if so many are given.
    evidence_context(const Ops& ops, const Modules& modules, thread_limit threads = {})
        : ops_(&ops), modules_(&modules), threads_(threads) {}

    /// The operators that were given.
    [[nodiscard]] const Ops& ops() const noexcept { return *ops_; }

    /// The modules that were given.
    [[nodiscard]] const Modules& modules() const noexcept { return *modules_; }

    /// How the modules lie to each other; claims name modules by rank in it.
    [[nodiscard]] const tree_index& index() const { return modules_->index(); }

    /// How many threads may read what was given.
    [[nodiscard]] thread_limit threads() const noexcept { return threads_; }

    /// The scopes in the names of the operators.
    [[nodiscard]] const scope_table& scopes() requires named_operators<Ops> {
        if (!scopes_) {
            scopes_ = collect_scopes(*ops_, threads_);
        }
        return *scopes_;
    }

    /// The modules that own the parameters.
    [[nodiscard]] const parameter_owners& owners() requires parameter_readers<Ops> {
        if (!owners_) {
            std::vector<bool> merged;
            if constexpr (named_operators<Ops>) {
                merged = find_merged_parameters(*ops_, scopes(), *modules_);
            }
            owners_ = find_parameter_owners(*ops_, *modules_, merged);
        }
        return *owners_;
    }

    /// The modules that the scopes stand for.
    [[nodiscard]] const scope_modules&
    modules_of_scopes() requires named_operators<Ops> && parameter_readers<Ops> {
        if (!bound_) {
            bound_ = bind_scopes(*ops_, scopes(), *modules_, owners(), threads_);
        }
        return *bound_;
    }

    /// The hierarchies in the metadata of the operators.
    [[nodiscard]] const hierarchy_table& hierarchies() {
        if (!hierarchies_) {
            hierarchies_ = collect_hierarchies(*ops_);
        }
        return *hierarchies_;
    }

    /// The modules that those speak of.
    [[nodiscard]] const hierarchy_modules& modules_of_hierarchies() {
        if (!bound_hierarchies_) {
            path_mapping mapping;
            if constexpr (parameter_readers<Ops>) {
                mapping = owners().mapping;
            }
            bound_hierarchies_ = bind_hierarchies(*ops_, hierarchies(), *modules_, mapping);
        }
        return *bound_hierarchies_;
    }

    /// The modules at which names and metadata stop short; see `find_shallow_modules`.
    [[nodiscard]] const std::vector<id>&
    shallow() requires named_operators<Ops> && parameter_readers<Ops> {
        if (!shallow_) {
            const auto& table = scopes();
            const auto& bound = modules_of_scopes();
            const auto& chains = hierarchies().chain_of;
            const auto& places = modules_of_hierarchies().of_chain;
            shallow_ = find_shallow_modules(
                *ops_, *modules_, owners(), [&](const operator_t<Ops>& vertex) {
                    const auto v = static_cast<id>(index_of(ops_->graph(), vertex));
                    if (!chains.empty() && chains[v] != no_id) {
                        return places[chains[v]].exact ? places[chains[v]].module : no_id;
                    }
                    const auto scope = table.scope_of[v];
                    return scope == no_id ? no_id : bound.of(v, scope).module;
                });
        }
        return *shallow_;
    }

    /// What `data_independent` says of the operators.
    [[nodiscard]] const std::vector<bool>& independent() {
        if (!independent_) {
            independent_ = data_independent(*ops_, sweep_order(ops_->graph()));
        }
        return *independent_;
    }

    /// Takes over facts that were found while the tree was built.
    void adopt(scope_table scopes, parameter_owners owners, scope_modules bound,
               hierarchy_table hierarchies) {
        scopes_ = std::move(scopes);
        owners_ = std::move(owners);
        bound_ = std::move(bound);
        hierarchies_ = std::move(hierarchies);
    }

private:
    const Ops* ops_;
    const Modules* modules_;
    thread_limit threads_;
    std::optional<std::vector<bool>> independent_;
    std::optional<scope_table> scopes_;
    std::optional<parameter_owners> owners_;
    std::optional<scope_modules> bound_;
    std::optional<hierarchy_table> hierarchies_;
    std::optional<hierarchy_modules> bound_hierarchies_;
    std::optional<std::vector<id>> shallow_;
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_EVIDENCE_CONTEXT_HPP
