// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_REBUILD_TREE_HPP
#define STEMMA_EVIDENCE_REBUILD_TREE_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/detail/hierarchy_table.hpp>
#include <stemma/evidence/detail/merged_parameters.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/scope_modules.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/sibling_order.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/named_modules.hpp>
#include <stemma/evidence/parameter_regions.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// A module tree reconstructed from the operators alone, with facts learnt on the way.
struct rebuilt_tree {
    module_tree modules;          ///< classes may be unknown
    detail::evidence_facts facts; ///< scopes, hierarchies, and their modules in `modules`
};

namespace detail {

/// Replaces the modules of scopes, and their callers, by `number(m)`.
template <class Number>
void renumber(scope_modules& scopes, Number number) {
    const auto change = [&](scope_module& bound) {
        bound.module = bound.module == no_id ? no_id : number(bound.module);
        bound.caller = bound.caller == no_id ? no_id : number(bound.caller);
    };
    for (auto& bound : scopes.of_scope) {
        change(bound);
    }
    for (auto& [v, bound] : scopes.of_operator) {
        change(bound);
    }
}

/// Adds the sequence members that only operators imply. `module_at` maps ranks to modules of the
/// builder. Returns: whether there were any.
template <class Ops>
[[nodiscard]] bool add_missing_members(const Ops& ops, rebuilt_tree& tree,
                                       std::span<const id> module_at,
                                       module_tree_builder& builder) {
    evidence_context<Ops, module_tree> context(ops, tree.modules, std::move(tree.facts));
    const auto missing = parameter_regions::find_missing_members(context);
    tree.facts = std::move(context).release();
    for (const auto& [sequence, number] : missing) {
        builder.child(module_at[sequence], std::to_string(number));
    }
    return !missing.empty();
}

} // namespace detail

/// Reconstructs a module tree from the hierarchies in operator metadata, the paths in parameter
/// names and the scopes in operator names. Classes come from metadata, call numbers from scopes.
/// Requires: `ops` may be read concurrently if a `thread_scope` allows it; `named` was collected
/// from the same operators. Complexity: O(operators + parameters + depth * scopes) expected.
template <named_operators Ops>
    requires parameter_readers<Ops>
[[nodiscard]] rebuilt_tree rebuild_tree(const Ops& ops, named_modules named) {
    auto& builder = named.builder;
    rebuilt_tree result;
    result.modules = std::move(named.modules);
    result.facts.known = std::make_shared<detail::known_facts>();
    auto& facts = *result.facts.known;
    facts.scopes = std::move(named.scopes);
    facts.hierarchies = std::move(named.hierarchies);
    const auto& scopes = *facts.scopes;
    const auto merged = detail::find_merged_parameters(ops, scopes, result.modules);
    const auto owners_by_rank = [&] {
        std::vector<id> ranks(named.owner.size(), no_id);
        for (id p = 0; p < ranks.size(); ++p) {
            if (named.owner[p] != no_id && !merged[p]) {
                ranks[p] = builder.rank_of(named.owner[p]);
            }
        }
        for (const auto& [p, m] : named.folded) {
            const auto rank = builder.rank_of(m);
            ranks[p] = ranks[p] == no_id ? rank : result.modules.index().lca(ranks[p], rank);
        }
        detail::parameter_owners owners;
        owners.reserve(ranks.size());
        for (const auto& rank : ranks) {
            owners.add({&rank, rank == no_id ? 0U : 1U});
        }
        return owners;
    };
    auto bound_scopes = detail::grow_scopes(ops, scopes, result.modules, owners_by_rank(), builder);
    std::vector<id> first_use(builder.size(), no_id);
    for (id s = 0; s < scopes.scopes.size(); ++s) {
        const auto m = bound_scopes.of_scope[s].module;
        const auto& scope = scopes.scopes[s];
        if (m != no_id && scope.operators > 0) {
            first_use[m] = std::min(first_use[m], scope.first_operator);
        }
    }
    for (auto v : scopes.leftover) { // ascending; where no operator has a name of its own
        const auto m = bound_scopes.of_scope[scopes.scope_of[v]].module;
        if (m != no_id && first_use[m] == no_id) {
            first_use[m] = v;
        }
    }
    for (auto m = static_cast<id>(builder.size()); m-- > 1;) {
        auto& above = first_use[builder.parent(m)];
        above = std::min(above, first_use[m]);
    }
    result.modules = builder.build(detail::sibling_order(builder, named.size, first_use));
    facts.owners = owners_by_rank();
    detail::renumber(bound_scopes, [&](id m) { return builder.rank_of(m); });
    facts.bound = std::move(bound_scopes);
    std::vector<id> module_at(builder.size()); // by rank
    for (id m = 0; m < module_at.size(); ++m) {
        module_at[builder.rank_of(m)] = m;
    }
    if (detail::add_missing_members(ops, result, module_at, builder)) {
        first_use.resize(builder.size(), no_id);
        result.modules = builder.build(detail::sibling_order(builder, named.size, first_use));
        facts.owners = owners_by_rank();
        detail::renumber(*facts.bound, [&](id rank) { return builder.rank_of(module_at[rank]); });
    }
    return result;
}

/// As above, collecting names first; the root is called `root_name`.
template <named_operators Ops>
    requires parameter_readers<Ops>
[[nodiscard]] rebuilt_tree rebuild_tree(const Ops& ops, std::string_view root_name = "") {
    return rebuild_tree(ops, detail::collect_named_modules(ops, root_name));
}

/// Rejects types that are no operator views, with an explanation.
template <class Ops, class... Others>
    requires(!operator_view<Ops>)
rebuilt_tree rebuild_tree(const Ops&, const Others&...) {
    static_assert(explain_operator_view<Ops>());
    return {};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_REBUILD_TREE_HPP
