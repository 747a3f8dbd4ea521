// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_LEFT_RESULTS_HPP
#define STEMMA_EVIDENCE_DETAIL_LEFT_RESULTS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether the result of `u`, or what that was rearranged from, is read outside of `module`, and by
/// nothing inside but `reader`; see `combines_left`.
template <operator_view Ops, module_view Modules>
[[nodiscard]] bool has_left(const region_facts<Ops, Modules>& facts,
                            const std::vector<nearest_owners>& behind, id u, id reader, id module) {
    constexpr std::size_t max_steps = 16;
    for (std::size_t step = 0; step < max_steps && facts.owner[u] == no_id; ++step) {
        const auto before = facts.only_producer(u);
        if (!facts.readers(u).is_single() || before == no_id) {
            break;
        }
        reader = u;
        u = before;
    }
    bool outside = false;
    for (const auto w : facts.readers(u)) {
        if (w == reader || facts.steady[w]) {
            continue;
        }
        if (facts.owner[w] != no_id) {
            if (facts.tree.is_ancestor(module, facts.owner[w])) {
                return false;
            }
            outside = true;
            continue;
        }
        for (const auto& nearest : behind[w]) {
            if (nearest.module != no_id && facts.tree.is_ancestor(module, nearest.module)) {
                return false;
            }
            outside = outside || nearest.module != no_id;
        }
    }
    return outside;
}

/// Whether an operator combines what `module` has returned, rather than what it still computes
/// with: an encoder's state and outputs meet in the decoder that reads them. Everything that the
/// operator reads, or what that was rearranged from, is then also read outside of the module, and
/// by nothing else inside. `behind` are the owners nearest behind each operator.
/// Complexity: O(degree of the operators).
template <operator_view Ops, module_view Modules>
[[nodiscard]] bool combines_left(const region_facts<Ops, Modules>& facts,
                                 const std::vector<nearest_owners>& behind, id v, id module) {
    return range::all_of(facts.producers(v), [&](id u) {
        return facts.steady[u] || has_left(facts, behind, u, v, module);
    });
}

/// Whether an operator reads the result of a child of `module`, or what only that was turned into:
/// the module goes on with it. Complexity: O(degree).
template <operator_view Ops, module_view Modules>
[[nodiscard]] bool reads_child(const region_facts<Ops, Modules>& facts, id v, id module) {
    return range::any_of(facts.producers(v), [&](id u) {
        constexpr std::size_t max_steps = 16;
        for (std::size_t step = 0; step < max_steps && u != no_id; ++step) {
            if (facts.owner[u] != no_id) {
                return facts.owner[u] != module && facts.tree.is_ancestor(module, facts.owner[u]);
            }
            u = facts.only_producer(u);
        }
        return false;
    });
}

/// Returns: by vertex index, whether everything that an operator reads was computed by unknown
/// modules after the last known ones, which are `before` it. Complexity: O(V + E).
template <operator_view Ops, module_view Modules>
[[nodiscard]] std::vector<bool> find_results_of_lost(const region_facts<Ops, Modules>& facts,
                                                     const std::vector<nearest_owners>& before) {
    std::vector<bool> all_lost(facts.size(), false);
    facts.order.forward([&](operator_t<Ops> vertex) {
        const auto v = static_cast<id>(index_of(facts.ops.graph(), vertex));
        all_lost[v] = !before[v].empty() && range::all_of(facts.producers(v), [&](id u) {
            return facts.owner[u] == no_id &&
                   (facts.steady[u] || facts.lost[u] || all_lost[u] || before[u].empty());
        });
    });
    return all_lost;
}

/// Whether owners are known behind an operator, none of which is in `module`.
[[nodiscard]] inline bool leads_out_of(const tree_index& tree, id module,
                                       const nearest_owners& behind) {
    const auto is_known = [](const auto& e) { return e.module != no_id; };
    const auto is_inside = [&](const auto& e) {
        return is_known(e) && tree.is_ancestor(module, e.module);
    };
    return range::any_of(behind, is_known) && !range::any_of(behind, is_inside);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_LEFT_RESULTS_HPP
