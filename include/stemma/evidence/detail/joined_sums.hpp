// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_JOINED_SUMS_HPP
#define STEMMA_EVIDENCE_DETAIL_JOINED_SUMS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/find_scope.hpp>
#include <stemma/evidence/detail/module_behind_fork.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: what is known of the conversion that restores the name of an operator's result, or
/// `no_id`. One that transposes too has the name of that.
template <operator_view Ops, class ModuleOf>
[[nodiscard]] id module_of_restored(const Ops& ops, operator_t<Ops> v, ModuleOf module_of) {
    if constexpr (named_operators<Ops>) {
        const auto& graph = ops.graph();
        for (auto [out, last] = out_edges(v, graph); out != last; ++out) {
            const auto reader = target(*out, graph);
            if (std::string_view(ops.op_type(reader)) == "ReorderOutput" &&
                !makes_transposed(ops, reader)) {
                return module_of(reader);
            }
        }
    }
    return no_id;
}

/// Returns: for operators that were fused with the addition that follows them, by vertex index, the
/// module of the addition: the one around the operator and what its result is named after; without
/// a name the one around everything after the fork of its two inputs, or its nearest ancestor that
/// computes anything itself, or that one's caller if it calls nothing else. `module_of(vertex)` is
/// what is known of an operator, or `no_id`; `independent()` returns what `data_independent` says.
/// Complexity: O(V + E), and of each such operator up to a constant of those before it.
template <parameter_readers Ops, module_view Modules, class Independent, class ModuleOf>
[[nodiscard]] std::unordered_map<id, id>
find_joined_sums(const Ops& ops, const Modules& modules, const parameter_owners& owners,
                 Independent independent, ModuleOf module_of) {
    constexpr std::size_t max_steps = 256;
    std::unordered_map<id, id> sums;
    if constexpr (requires(operator_t<Ops> v) { ops.joins_sum(v); }) {
        const auto& graph = ops.graph();
        std::vector<operator_t<Ops>> joined;
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            if (ops.joins_sum(*it)) {
                joined.push_back(*it);
            }
        }
        if (joined.empty()) {
            return sums;
        }
        const std::vector<bool>& steady = independent();
        const vertices_by_index<graph_of<Ops>> vertex(graph);
        const tree_index& tree = modules.index();
        const module_code<Modules> code(ops, modules, owners);
        std::vector<id> position(num_vertices(graph), no_id);
        id step = 0;
        sweep_order(graph).forward(
            [&](operator_t<Ops> v) { position[index_of(graph, v)] = step++; });
        std::vector<std::size_t> operators(tree.size(), 0); // of a module and those below
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            if (const auto module = module_of(*it); module != no_id) {
                ++operators[module];
            }
        }
        for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
            operators[tree.parent(m)] += operators[m];
        }
        for (const auto sum : joined) {
            const auto own = module_of(sum);
            const auto last = module_of_restored(ops, sum, module_of);
            if (own != no_id && last != no_id) {
                sums.emplace(static_cast<id>(index_of(graph, sum)), tree.lca(own, last));
                continue;
            }
            const auto module =
                module_behind_fork(ops, vertex, position, steady, tree, sum, max_steps, module_of);
            if (module == no_id) {
                continue;
            }
            const auto m = code.nearest(around(tree, module));
            const auto above = m == 0 ? m : tree.parent(m);
            const bool wraps = operators[above] == operators[m] && !code.is_list(above);
            sums.emplace(static_cast<id>(index_of(graph, sum)), wraps ? above : m);
        }
    }
    return sums;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_JOINED_SUMS_HPP
