// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_MODULE_BEHIND_FORK_HPP
#define STEMMA_EVIDENCE_DETAIL_MODULE_BEHIND_FORK_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/detail/wired_operators.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <cstddef>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the deepest module shared by everything after the fork of an operator's two inputs,
/// `from` included; `no_id` if they do not fork within `max_steps` operators. `module_of(v)` is
/// what is known of an operator, or `no_id`.
/// Complexity: O(max_steps * log max_steps), and the edges of as many operators.
template <operator_view Ops, class ModuleOf>
[[nodiscard]] id module_behind_fork(const wired_operators<Ops>& wires, const tree_index& tree,
                                    id from, std::size_t max_steps, ModuleOf module_of) {
    std::priority_queue<std::pair<id, id>> open; // position and index, the last one first
    std::unordered_map<id, unsigned> inputs;     // by index: which of them it leads to
    const auto reach = [&](id u, unsigned which) {
        if (wires.steady[u]) {
            return;
        }
        auto& sides = inputs[u];
        if (sides == 0) {
            open.emplace(wires.position[u], u);
        }
        sides |= which;
    };
    unsigned which = 1;
    for (const auto u : wires.producers(from)) {
        reach(u, std::exchange(which, 2));
    }
    std::vector<id> seen; // the last one first
    while (!open.empty() && seen.size() < max_steps && inputs[open.top().second] != 3) {
        const auto u = open.top().second;
        open.pop();
        seen.push_back(u);
        for (const auto before : wires.producers(u)) {
            reach(before, inputs[u]);
        }
    }
    if (open.empty() || inputs[open.top().second] != 3) {
        return no_id;
    }
    common_module around_both;
    around_both.add(module_of(from));
    std::unordered_set<id> behind{open.top().second};
    for (auto u = seen.rbegin(); u != seen.rend(); ++u) {
        if (range::any_of(wires.producers(*u), [&](id w) { return behind.contains(w); })) {
            behind.insert(*u);
            around_both.add(module_of(*u));
        }
    }
    return around_both.get(tree);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_MODULE_BEHIND_FORK_HPP
