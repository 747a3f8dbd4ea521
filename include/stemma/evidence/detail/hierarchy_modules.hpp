// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_HIERARCHY_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_HIERARCHY_MODULES_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/hierarchy_table.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/detail/nesting.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Where the metadata of operators lead in a tree.
struct hierarchy_modules {
    /// Where a chain of modules ends.
    struct place {
        id module = no_id; ///< rank; `no_id` for a chain that does not start at the root
        bool exact = true; ///< else the tree lacks the levels below
    };

    std::vector<place> of_chain;      ///< by number of the chain in the hierarchy_table
    std::vector<id> of_body_operator; ///< by vertex index, for chains that do not start at the root
};

/// Returns: where the metadata of an operator lead; `no_id` as module if nowhere.
/// Complexity: O(1).
[[nodiscard]] inline hierarchy_modules::place find_place(const hierarchy_table& table,
                                                         const hierarchy_modules& bound, id v) {
    const auto chain = table.chain_of.empty() ? no_id : table.chain_of[v];
    auto place = chain == no_id ? hierarchy_modules::place{} : bound.of_chain[chain];
    if (place.module == no_id && !bound.of_body_operator.empty()) {
        place.module = bound.of_body_operator[v];
    }
    return place;
}

/// Adds the modules of chains to a tree; those on a path that no chain ends in or passes through
/// never run.
inline void grow_hierarchies(const hierarchy_table& table, module_tree_builder& builder) {
    for (const auto& chain : table.chains) {
        if (!chain.from_root) {
            continue;
        }
        for (const auto& level : chain.levels) {
            const auto m = builder.at_path(level.path);
            if (!level.qualified_class.empty() && !builder.has_class(m)) {
                const auto dot = level.qualified_class.rfind('.');
                builder.set_class(m,
                                  std::string_view(level.qualified_class)
                                      .substr(dot == std::string::npos ? 0 : dot + 1),
                                  level.qualified_class);
            }
            if (builder.calls(m) == no_id || builder.calls(m) == 0) {
                builder.set_calls(m, 1);
            }
            for (auto above = builder.parent(m); above != no_id; above = builder.parent(above)) {
                if (builder.calls(above) == no_id) {
                    builder.set_calls(above, 0);
                }
            }
        }
    }
}

/// Finds the modules that the metadata of operators denote.
///
/// A chain that starts inside (as the exporter writes in the branches of a condition) is looked up
/// below the module of the body's owner, then further out; an operator there without a module may
/// be anywhere in the owner's. Complexity: O(chains * depth + operators in bodies * depth).
template <operator_view Ops, module_view Modules>
[[nodiscard]] hierarchy_modules bind_hierarchies(const Ops& ops, const hierarchy_table& table,
                                                 const Modules& modules,
                                                 const path_mapping& mapping) {
    const module_lookup<Modules> lookup(modules);
    hierarchy_modules result;
    for (const auto& chain : table.chains) {
        hierarchy_modules::place place;
        if (chain.from_root) {
            const auto [module, rest] =
                find_longest(lookup, mapping.apply(chain.levels.back().path), mapping.base);
            place = {module, rest.empty()};
        }
        result.of_chain.push_back(place);
    }
    if (table.chain_of.empty()) {
        return result;
    }
    std::unordered_map<id, id> around_bodies; // by operator in a body, for the bodies it owns
    for (const auto& op : detail::operators_in_bodies(ops)) {
        const auto chain = table.chain_of[op.v];
        const bool bare =
            chain == no_id && std::binary_search(table.bare.begin(), table.bare.end(), op.v);
        if (!bare && (chain == no_id || table.chains[chain].from_root)) {
            continue;
        }
        const auto of_owner = table.chain_of[op.owner];
        auto around = of_owner == no_id ? no_id : result.of_chain[of_owner].module;
        if (const auto entry = around_bodies.find(op.owner);
            around == no_id && entry != around_bodies.end()) {
            around = entry->second;
        }
        if (bare) {
            around_bodies.emplace(op.v, around);
            continue;
        }
        around = around == no_id ? 0 : around;
        auto module = find_module(lookup, table.chains[chain].levels.back().path, around);
        while (module == no_id && around != 0) {
            around = modules.index().parent(around);
            module = find_module(lookup, table.chains[chain].levels.back().path, around);
        }
        if (module != no_id) {
            around_bodies.emplace(op.v, module);
            result.of_body_operator.resize(num_vertices(ops.graph()), no_id);
            result.of_body_operator[op.v] = module;
        }
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_HIERARCHY_MODULES_HPP
