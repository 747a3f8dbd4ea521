// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_JOINED_SUMS_HPP
#define STEMMA_EVIDENCE_DETAIL_JOINED_SUMS_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/find_scope.hpp>
#include <stemma/evidence/detail/module_behind_fork.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/detail/wired_operators.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: what is known of the conversion that restores the name of an operator's result, or
/// `no_id`. One that transposes too has the name of that.
template <operator_view Ops, class ModuleOf>
[[nodiscard]] id module_of_restored(const wired_operators<Ops>& wires, id v, ModuleOf module_of) {
    if constexpr (named_operators<Ops>) {
        for (const auto w : wires.readers(v)) {
            if (wires.is(w, "ReorderOutput") && !makes_transposed(wires.ops, wires.vertex(w))) {
                return module_of(w);
            }
        }
    }
    return no_id;
}

/// Returns: for operators that were fused with the addition that follows them, by vertex index, the
/// module of the addition: the one around the operator and what its result is named after; without
/// a name the one around everything after the fork of its two inputs, or its nearest ancestor that
/// computes anything itself, or that one's caller if it calls nothing else. `known_of(vertex)` is
/// what is known of an operator, or `no_id`; `independent()` returns what `data_independent` says.
/// Complexity: O(V + E), and of each such operator up to a constant of those before it.
template <parameter_readers Ops, module_view Modules, class Independent, class KnownOf>
[[nodiscard]] std::unordered_map<id, id>
find_joined_sums(const Ops& ops, const Modules& modules, const parameter_owners& owners,
                 Independent independent, KnownOf known_of) {
    constexpr std::size_t max_steps = 256;
    std::unordered_map<id, id> sums;
    if constexpr (requires(operator_t<Ops> v) { ops.joins_sum(v); }) {
        const auto [first, last] = vertices(ops.graph());
        if (std::none_of(first, last, [&](operator_t<Ops> v) { return ops.joins_sum(v); })) {
            return sums;
        }
        const wired_operators<Ops> wires(ops, independent());
        const tree_index& tree = modules.index();
        const module_code<Modules> code(ops, modules, owners);
        const auto module_of = [&](id v) -> id { return known_of(wires.vertex(v)); };
        std::vector<std::size_t> operators(tree.size(), 0); // of a module and those below
        for (id v = 0; v < wires.size(); ++v) {
            if (const auto module = module_of(v); module != no_id) {
                ++operators[module];
            }
        }
        for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
            operators[tree.parent(m)] += operators[m];
        }
        for (id sum = 0; sum < wires.size(); ++sum) {
            if (!ops.joins_sum(wires.vertex(sum))) {
                continue;
            }
            const auto own = module_of(sum);
            const auto restored = module_of_restored(wires, sum, module_of);
            if (own != no_id && restored != no_id) {
                sums.emplace(sum, tree.lca(own, restored));
                continue;
            }
            const auto module = module_behind_fork(wires, tree, sum, max_steps, module_of);
            if (module == no_id) {
                continue;
            }
            const auto m = code.nearest(around(tree, module));
            const auto above = m == 0 ? m : tree.parent(m);
            const bool wraps = operators[above] == operators[m] && !code.is_list(above);
            sums.emplace(sum, wraps ? above : m);
        }
    }
    return sums;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_JOINED_SUMS_HPP
