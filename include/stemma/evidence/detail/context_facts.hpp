// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_CONTEXT_FACTS_HPP
#define STEMMA_EVIDENCE_DETAIL_CONTEXT_FACTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/bypassed_modules.hpp>
#include <stemma/evidence/detail/find_scope.hpp>
#include <stemma/evidence/detail/hierarchy_modules.hpp>
#include <stemma/evidence/detail/hierarchy_table.hpp>
#include <stemma/evidence/detail/joined_sums.hpp>
#include <stemma/evidence/detail/merged_parameters.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/detail/scope_modules.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/shallow_modules.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What names, metadata and parameters say about operators and modules, as far as computed.
struct known_facts {
    std::optional<scope_table> scopes{};          ///< in the names of the operators
    std::optional<parameter_owners> owners{};     ///< modules that own the parameters
    std::optional<scope_modules> bound{};         ///< modules that the scopes stand for
    std::optional<hierarchy_table> hierarchies{}; ///< in the metadata of the operators

    /// Of one tree only.
    struct tree_facts {
        std::optional<hierarchy_modules> bound_hierarchies{};
        std::optional<std::vector<id>> shallow{};
        std::optional<std::vector<id>> bypassed{};
        std::optional<std::unordered_map<id, id>> sums{};
        std::optional<std::unordered_map<id, id>> joined{};
    };

    tree_facts of_tree{};
};

/// The modules in the metadata of operators, else in their names.
class named_places {
public:
    /// Requires: the context outlives it.
    template <class Ops, class Modules>
    explicit named_places(evidence_context<Ops, Modules>& context)
        : scopes_(context.scopes())
        , chains_(context.hierarchies())
        , of_scopes_(context.modules_of_scopes())
        , of_chains_(context.modules_of_hierarchies()) {}

    /// Returns: that of the operator at vertex index `v`; `no_id` if neither tells, or metadata
    /// name one that the tree lacks. Complexity: O(1).
    [[nodiscard]] id operator[](id v) const {
        const auto chain = chains_.chain_of.empty() ? no_id : chains_.chain_of[v];
        if (chain != no_id) {
            const auto& place = of_chains_.of_chain[chain];
            return place.exact ? place.module : no_id;
        }
        const auto scope = scopes_.scope_of[v];
        return scope == no_id ? no_id : of_scopes_.of(v, scope).module;
    }

    /// Whether an operator has metadata or a name that may tell.
    [[nodiscard]] bool has_any(id v) const {
        return scopes_.scope_of[v] != no_id ||
               (!chains_.chain_of.empty() && chains_.chain_of[v] != no_id);
    }

private:
    const scope_table& scopes_;
    const hierarchy_table& chains_;
    const scope_modules& of_scopes_;
    const hierarchy_modules& of_chains_;
};

/// Computes the facts of a context, each when first asked for.
template <operator_view Ops, module_view Modules>
class context_facts {
public:
    using context_type = evidence_context<Ops, Modules>;

    /// Requires: both outlive it.
    context_facts(context_type& context, std::shared_ptr<known_facts>& known)
        : context_(context)
        , ops_(context.ops())
        , modules_(context.modules())
        , known_(known ? *known : *(known = std::make_shared<known_facts>())) {}

    /// Forgets what holds for this tree only.
    void keep_known() { known_.of_tree = {}; }

    [[nodiscard]] const scope_table& scopes() {
        if (!known_.scopes) {
            known_.scopes = collect_scopes(ops_);
        }
        return *known_.scopes;
    }

    [[nodiscard]] const parameter_owners& owners() {
        if (!known_.owners) {
            std::vector<bool> merged;
            if constexpr (named_operators<Ops>) {
                merged = find_merged_parameters(ops_, scopes(), modules_);
            }
            known_.owners = find_parameter_owners(ops_, modules_, merged);
        }
        return *known_.owners;
    }

    [[nodiscard]] const scope_modules& modules_of_scopes() {
        if (!known_.bound) {
            known_.bound = bind_scopes(ops_, scopes(), modules_, owners());
        }
        return *known_.bound;
    }

    [[nodiscard]] const hierarchy_table& hierarchies() {
        if (!known_.hierarchies) {
            known_.hierarchies = collect_hierarchies(ops_);
        }
        return *known_.hierarchies;
    }

    [[nodiscard]] const hierarchy_modules& modules_of_hierarchies() {
        auto& bound = known_.of_tree.bound_hierarchies;
        if (!bound) {
            path_mapping mapping;
            if constexpr (parameter_readers<Ops>) {
                mapping = owners().mapping;
            }
            bound = bind_hierarchies(ops_, hierarchies(), modules_, mapping);
        }
        return *bound;
    }

    [[nodiscard]] const std::vector<id>& shallow() {
        auto& modules = known_.of_tree.shallow;
        if (!modules && names_reach_parameters()) {
            modules.emplace();
        }
        if (!modules) {
            const named_places named(context_);
            modules =
                find_shallow_modules(ops_, modules_, owners(), [&](const operator_t<Ops>& vertex) {
                    return named[static_cast<id>(index_of(ops_.graph(), vertex))];
                });
        }
        return *modules;
    }

    [[nodiscard]] const std::vector<id>& bypassed() {
        auto& modules = known_.of_tree.bypassed;
        if (!modules) {
            modules = find_bypassed_modules(ops_, modules_, owners());
        }
        return *modules;
    }

    [[nodiscard]] const std::unordered_map<id, id>& sums() {
        auto& sums = known_.of_tree.sums;
        if (!sums) {
            sums = find_joined_sums(
                ops_, modules_,
                owners(), [this]() -> const auto& { return context_.independent(); },
                [this](const operator_t<Ops>& vertex) { return known_module(vertex); });
        }
        return *sums;
    }

    [[nodiscard]] const std::unordered_map<id, id>& joined() {
        auto& joined = known_.of_tree.joined;
        if (!joined) {
            joined = sums();
            if constexpr (named_operators<Ops>) {
                const auto& tree = context_.index();
                for (const auto& [v, end] : scopes().ends) {
                    if (const auto last = modules_of_scopes().of_scope[end].module; last != no_id) {
                        auto& module = joined->try_emplace(v, last).first->second;
                        module = tree.lca(module, last);
                    }
                }
                add_own_ends(*joined);
            }
        }
        return *joined;
    }

private:
    /// Returns: what is around the owners of an operator's parameters and the module in its name;
    /// `no_id` without any.
    [[nodiscard]] id known_module(const operator_t<Ops>& vertex) {
        auto module = owners_read(ops_, owners(), vertex);
        if constexpr (named_operators<Ops>) {
            const auto v = static_cast<id>(index_of(ops_.graph(), vertex));
            const auto scope = scopes().scope_of[v];
            module.add(scope == no_id ? no_id : modules_of_scopes().of(v, scope).module);
        }
        return module.get(context_.index());
    }

    /// Adds operators that were fused with others of their scope.
    void add_own_ends(std::unordered_map<id, id>& joined) {
        if constexpr (joined_operators<Ops>) {
            const auto& table = scopes();
            auto [it, last] = vertices(ops_.graph());
            for (it = table.leftover.empty() ? last : it; it != last; ++it) {
                const auto v = static_cast<id>(index_of(ops_.graph(), *it));
                if (std::binary_search(table.leftover.begin(), table.leftover.end(), v) &&
                    ends_in_own_scope(ops_, *it) && ops_.is_joined(*it)) {
                    const auto module = modules_of_scopes().of_scope[table.scope_of[v]].module;
                    module == no_id ? void() : void(joined.try_emplace(v, module));
                }
            }
        }
    }

    /// Whether every module that runs with parameters is named by some operator, so that names and
    /// metadata stop short of none. Complexity: O(scopes + parameters).
    [[nodiscard]] bool names_reach_parameters() {
        std::vector<bool> is_named(context_.index().size(), false);
        if (!hierarchies().chain_of.empty()) {
            for (const auto& place : modules_of_hierarchies().of_chain) {
                if (place.exact && place.module != no_id) {
                    is_named[place.module] = true;
                }
            }
        } else if (const auto& bound = modules_of_scopes(); bound.of_operator.empty()) {
            for (std::size_t s = 0; s < bound.of_scope.size(); ++s) {
                const auto module = bound.of_scope[s].module;
                if (module != no_id && scopes().scopes[s].operators > 0) {
                    is_named[module] = true;
                }
            }
        }
        for (id p = 0; p < ops_.parameter_count(); ++p) {
            for (auto owner : owners().of(p)) {
                if (!is_named[nearest_called(modules_, owner)]) {
                    return false;
                }
            }
        }
        return true;
    }

    context_type& context_;
    const Ops& ops_;
    const Modules& modules_;
    known_facts& known_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_CONTEXT_FACTS_HPP
