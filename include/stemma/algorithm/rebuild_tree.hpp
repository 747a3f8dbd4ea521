// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALGORITHM_REBUILD_TREE_HPP
#define STEMMA_ALGORITHM_REBUILD_TREE_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/detail/sibling_order.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/hierarchy_modules.hpp>
#include <stemma/evidence/hierarchy_table.hpp>
#include <stemma/evidence/merged_parameters.hpp>
#include <stemma/evidence/parameter_owners.hpp>
#include <stemma/evidence/path_mapping.hpp>
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
/// Requires: several threads may read `ops` at once, if so many are given.
/// Complexity: O(operators + parameters + depth * scopes) expected.
template <named_operators Ops>
    requires parameter_readers<Ops>
[[nodiscard]] rebuilt_tree rebuild_tree(const Ops& ops, std::string_view root_name = "",
                                        thread_limit threads = {}) {
    module_tree_builder builder(root_name);
    rebuilt_tree result;
    std::vector<std::vector<id>> folded(ops.parameter_count());
    std::vector<id> owner(ops.parameter_count(), no_id);
    id named = 0; // modules that parameters name
    const auto grow_owners = [&] {
        result.hierarchies = collect_hierarchies(ops);
        detail::grow_hierarchies(result.hierarchies, builder);
        for (id p = 0; p < owner.size(); ++p) {
            detail::prefetch_name_behind(ops, p);
            if (const auto path = owner_path(ops.parameter_name(p)); !path.empty()) {
                owner[p] = builder.at_path(path);
            }
        }
        named = static_cast<id>(builder.size());
        if constexpr (requires { ops.for_each_folded_parameter(detail::take_folded{}); }) {
            ops.for_each_folded_parameter([&](id p, std::string_view origin) {
                if (const auto path = owner_path(origin); !path.empty() && owner[p] == no_id) {
                    folded[p].push_back(builder.at_path(path));
                }
            });
        }
        result.modules = builder.build();
    };
    run_tasks(threads.parts_of_operators(num_vertices(ops.graph())),
              {grow_owners, [&] { result.scopes = collect_scopes(ops, threads.without_one()); }});
    const auto merged = find_merged_parameters(ops, result.scopes, result.modules);
    const auto owners_by_rank = [&] {
        parameter_owners owners;
        for (id p = 0; p < owner.size(); ++p) {
            auto rank = owner[p] == no_id || merged[p] ? no_id : builder.rank_of(owner[p]);
            for (auto m : folded[p]) {
                rank = rank == no_id ? builder.rank_of(m)
                                     : result.modules.index().lca(rank, builder.rank_of(m));
            }
            owners.add({&rank, rank == no_id ? 0U : 1U});
        }
        return owners;
    };
    result.owners = owners_by_rank();
    result.bound = grow_scopes(ops, result.scopes, result.modules, result.owners, builder);
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
    result.modules = builder.build(detail::sibling_order(builder, named, first_use));
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

} // namespace stemma

#endif // STEMMA_ALGORITHM_REBUILD_TREE_HPP
