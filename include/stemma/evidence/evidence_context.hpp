// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_EVIDENCE_CONTEXT_HPP
#define STEMMA_EVIDENCE_EVIDENCE_CONTEXT_HPP

#include <stemma/core/sweep_order.hpp>
#include <stemma/evidence/detail/bypassed_modules.hpp>
#include <stemma/evidence/detail/find_scope.hpp>
#include <stemma/evidence/detail/hierarchy_modules.hpp>
#include <stemma/evidence/detail/hierarchy_table.hpp>
#include <stemma/evidence/detail/joined_sums.hpp>
#include <stemma/evidence/detail/merged_parameters.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/scope_modules.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/shallow_modules.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Facts about operators and modules that several sources of evidence read, as far as computed.
struct evidence_facts {
    std::optional<detail::scope_table> scopes{};          ///< in the names of the operators
    std::optional<detail::parameter_owners> owners{};     ///< modules that own the parameters
    std::optional<detail::scope_modules> bound{};         ///< modules that the scopes stand for
    std::optional<detail::hierarchy_table> hierarchies{}; ///< in the metadata of the operators
    std::optional<std::vector<bool>> independent{};       ///< what `data_independent` says of them
};

} // namespace detail

/// The input of sources of evidence: the operators, the modules, and facts that several of them
/// need, each computed on first use.
template <operator_view Ops, module_view Modules>
class evidence_context {
public:
    /// Requires: both outlive the context; if a `thread_scope` allows several threads, these may
    /// read them concurrently, and query what sources prepare.
    evidence_context(const Ops& ops, const Modules& modules) : ops_(&ops), modules_(&modules) {}

    /// As above, reusing known facts. Requires: they are for these operators and modules.
    evidence_context(const Ops& ops, const Modules& modules, detail::evidence_facts facts)
        : ops_(&ops), modules_(&modules), facts_(std::move(facts)) {}

    /// Returns: the given facts and those computed since.
    [[nodiscard]] detail::evidence_facts release() && { return std::move(facts_); }

    /// The operators.
    [[nodiscard]] const Ops& ops() const noexcept { return *ops_; }

    /// The modules.
    [[nodiscard]] const Modules& modules() const noexcept { return *modules_; }

    /// The ancestry of modules; claims refer to modules by rank in it.
    [[nodiscard]] const tree_index& index() const { return modules_->index(); }

    /// The names of the sources; a named source adds its own when it prepares itself.
    [[nodiscard]] provenance_names& provenances() noexcept { return provenances_; }

    /// The scopes in the names of the operators.
    [[nodiscard]] const detail::scope_table& scopes() requires named_operators<Ops> {
        if (!facts_.scopes) {
            facts_.scopes = detail::collect_scopes(*ops_);
        }
        return *facts_.scopes;
    }

    /// The modules that own the parameters.
    [[nodiscard]] const detail::parameter_owners& owners() requires parameter_readers<Ops> {
        if (!facts_.owners) {
            std::vector<bool> merged;
            if constexpr (named_operators<Ops>) {
                merged = detail::find_merged_parameters(*ops_, scopes(), *modules_);
            }
            facts_.owners = detail::find_parameter_owners(*ops_, *modules_, merged);
        }
        return *facts_.owners;
    }

    /// The modules that the scopes stand for.
    [[nodiscard]] const detail::scope_modules&
    modules_of_scopes() requires named_operators<Ops> && parameter_readers<Ops> {
        if (!facts_.bound) {
            facts_.bound = detail::bind_scopes(*ops_, scopes(), *modules_, owners());
        }
        return *facts_.bound;
    }

    /// The hierarchies in the metadata of the operators.
    [[nodiscard]] const detail::hierarchy_table& hierarchies() {
        if (!facts_.hierarchies) {
            facts_.hierarchies = detail::collect_hierarchies(*ops_);
        }
        return *facts_.hierarchies;
    }

    /// The modules that those hierarchies denote.
    [[nodiscard]] const detail::hierarchy_modules& modules_of_hierarchies() {
        if (!bound_hierarchies_) {
            detail::path_mapping mapping;
            if constexpr (parameter_readers<Ops>) {
                mapping = owners().mapping;
            }
            bound_hierarchies_ = detail::bind_hierarchies(*ops_, hierarchies(), *modules_, mapping);
        }
        return *bound_hierarchies_;
    }

    /// The modules at which names and metadata stop short; see `find_shallow_modules`.
    [[nodiscard]] const std::vector<id>&
    shallow() requires named_operators<Ops> && parameter_readers<Ops> {
        if (!shallow_ && names_reach_parameters()) {
            shallow_.emplace();
        }
        if (!shallow_) {
            const auto& table = scopes();
            const auto& bound = modules_of_scopes();
            const auto& chains = hierarchies().chain_of;
            const auto& places = modules_of_hierarchies().of_chain;
            shallow_ = detail::find_shallow_modules(
                *ops_, *modules_, owners(), [&](const operator_t<Ops>& vertex) {
                    const auto v = static_cast<id>(detail::index_of(ops_->graph(), vertex));
                    if (!chains.empty() && chains[v] != no_id) {
                        return places[chains[v]].exact ? places[chains[v]].module : no_id;
                    }
                    const auto scope = table.scope_of[v];
                    return scope == no_id ? no_id : bound.of(v, scope).module;
                });
        }
        return *shallow_;
    }

    /// The modules whose parameters are used by their parents directly; see
    /// `find_bypassed_modules`.
    [[nodiscard]] const std::vector<id>& bypassed() requires parameter_readers<Ops> {
        if (!bypassed_) {
            bypassed_ = detail::find_bypassed_modules(*ops_, *modules_, owners());
        }
        return *bypassed_;
    }

    /// The modules of operators that were fused with the addition that follows them, by vertex
    /// index; see `find_joined_sums`. Complexity: that of `find_joined_sums`, the first time.
    [[nodiscard]] const std::unordered_map<id, id>& sums() requires parameter_readers<Ops> {
        if (!sums_) {
            sums_ = detail::find_joined_sums(
                *ops_, *modules_, owners(), [this]() -> const auto& { return independent(); },
                [this](const operator_t<Ops>& vertex) {
                    detail::common_module module;
                    ops_->for_each_parameter(vertex, [&](id p) {
                        for (auto owner : owners().of(p)) {
                            module.add(owner);
                        }
                    });
                    if constexpr (named_operators<Ops>) {
                        const auto v = static_cast<id>(detail::index_of(ops_->graph(), vertex));
                        const auto scope = scopes().scope_of[v];
                        module.add(scope == no_id ? no_id
                                                  : modules_of_scopes().of(v, scope).module);
                    }
                    return module.get(index());
                });
        }
        return *sums_;
    }

    /// The modules of what operators were fused with, by vertex index: of what a result is named
    /// after, and of additions. Complexity: as `sums`, and O(V) if any was fused, the first time.
    [[nodiscard]] const std::unordered_map<id, id>& joined() requires parameter_readers<Ops> {
        if (!joined_) {
            joined_ = sums();
            if constexpr (named_operators<Ops>) {
                for (const auto& [v, end] : scopes().ends) {
                    if (const auto last = modules_of_scopes().of_scope[end].module; last != no_id) {
                        auto& module = joined_->try_emplace(v, last).first->second;
                        module = index().lca(module, last);
                    }
                }
                add_own_ends(*joined_);
            }
        }
        return *joined_;
    }

    /// The result of `data_independent` for the operators.
    [[nodiscard]] const std::vector<bool>& independent() {
        if (!facts_.independent) {
            facts_.independent = data_independent(*ops_, sweep_order(ops_->graph()));
        }
        return *facts_.independent;
    }

private:
    /// Adds operators that were fused with others of their scope.
    void add_own_ends(std::unordered_map<id, id>& joined) {
        if constexpr (joined_operators<Ops>) {
            const auto& table = scopes();
            auto [it, last] = vertices(ops_->graph());
            for (it = table.leftover.empty() ? last : it; it != last; ++it) {
                const auto v = static_cast<id>(detail::index_of(ops_->graph(), *it));
                if (std::binary_search(table.leftover.begin(), table.leftover.end(), v) &&
                    detail::ends_in_own_scope(*ops_, *it) && ops_->is_joined(*it)) {
                    const auto module = modules_of_scopes().of_scope[table.scope_of[v]].module;
                    module == no_id ? void() : void(joined.try_emplace(v, module));
                }
            }
        }
    }

    /// Whether every module that runs with parameters is named by some operator, so that names and
    /// metadata stop short of none. Complexity: O(scopes + parameters).
    [[nodiscard]] bool
    names_reach_parameters() requires named_operators<Ops> && parameter_readers<Ops> {
        std::vector<bool> is_named(index().size(), false);
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
        for (id p = 0; p < ops_->parameter_count(); ++p) {
            for (auto owner : owners().of(p)) {
                if (!is_named[detail::nearest_called(*modules_, owner)]) {
                    return false;
                }
            }
        }
        return true;
    }

    const Ops* ops_;
    const Modules* modules_;
    provenance_names provenances_;
    detail::evidence_facts facts_;
    std::optional<detail::hierarchy_modules> bound_hierarchies_;
    std::optional<std::vector<id>> shallow_;
    std::optional<std::vector<id>> bypassed_;
    std::optional<std::unordered_map<id, id>> sums_;
    std::optional<std::unordered_map<id, id>> joined_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_EVIDENCE_CONTEXT_HPP
