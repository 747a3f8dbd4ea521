// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALGORITHM_REBUILD_TREE_HPP
#define STEMMA_ALGORITHM_REBUILD_TREE_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/detail/sibling_order.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/hierarchy_table.hpp>
#include <stemma/evidence/merged_parameters.hpp>
#include <stemma/evidence/named_modules.hpp>
#include <stemma/evidence/parameter_owners.hpp>
#include <stemma/evidence/scope_modules.hpp>
#include <stemma/evidence/scope_table.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// A module tree made from the operators alone, with what was learnt about them on the way.
struct rebuilt_tree {
    module_tree modules;         ///< of unknown classes where nothing tells them
    scope_table scopes;          ///< of the operators' names
    parameter_owners owners;     ///< by parameter, in `modules`
    scope_modules bound;         ///< the modules of `scopes`
    hierarchy_table hierarchies; ///< of the operators' metadata

    /// Gives what was learnt to a context over `modules`.
    template <class Ops>
    void teach(evidence_context<Ops, module_tree>& context) && {
        context.adopt(std::move(scopes), std::move(owners), std::move(bound),
                      std::move(hierarchies));
    }
};

/// Makes a module tree of the hierarchies in the metadata of operators, the paths in the names of
/// parameters and the scopes in the names of operators. Classes are known where metadata tell them,
/// numbers of calls where scopes do.
/// Requires: several threads may read `ops` at once, if so many are given; `named` was collected of
///   the same operators.
/// Complexity: O(operators + parameters + depth * scopes) expected.
template <named_operators Ops>
    requires parameter_readers<Ops>
[[nodiscard]] rebuilt_tree rebuild_tree(const Ops& ops, named_modules named,
                                        thread_limit threads = {}) {
    auto& builder = named.builder;
    rebuilt_tree result;
    result.modules = std::move(named.modules);
    result.scopes = std::move(named.scopes);
    result.hierarchies = std::move(named.hierarchies);
    const auto merged = find_merged_parameters(ops, result.scopes, result.modules);
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
        parameter_owners owners;
        owners.reserve(ranks.size());
        for (const auto& rank : ranks) {
            owners.add({&rank, rank == no_id ? 0U : 1U});
        }
        return owners;
    };
    result.owners = owners_by_rank();
    result.bound = grow_scopes(ops, result.scopes, result.modules, result.owners, builder, threads);
    std::vector<id> first_use(builder.size(), no_id);
    for (id s = 0; s < result.scopes.scopes.size(); ++s) {
        const auto m = result.bound.of_scope[s].module;
        const auto& scope = result.scopes.scopes[s];
        if (m != no_id && scope.operators > 0) {
            first_use[m] = std::min(first_use[m], scope.first_operator);
        }
    }
    for (auto m = static_cast<id>(builder.size()); m-- > 1;) {
        auto& above = first_use[builder.parent(m)];
        above = std::min(above, first_use[m]);
    }
    result.modules = builder.build(detail::sibling_order(builder, named.size, first_use));
    result.owners = owners_by_rank();
    const auto to_rank = [&](scope_module& bound) {
        bound.module = builder.rank_of(bound.module);
        bound.caller = bound.caller == no_id ? no_id : builder.rank_of(bound.caller);
    };
    for (auto& bound : result.bound.of_scope) {
        to_rank(bound);
    }
    for (auto& [v, bound] : result.bound.of_operator) {
        to_rank(bound);
    }
    return result;
}

/// As above, of operators of which nothing was collected yet; the root is called `root_name`.
template <named_operators Ops>
    requires parameter_readers<Ops>
[[nodiscard]] rebuilt_tree rebuild_tree(const Ops& ops, std::string_view root_name = "",
                                        thread_limit threads = {}) {
    return rebuild_tree(ops, collect_named_modules(ops, root_name, threads), threads);
}

} // namespace stemma

#endif // STEMMA_ALGORITHM_REBUILD_TREE_HPP
