// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_MODULE_BEHIND_FORK_HPP
#define STEMMA_EVIDENCE_DETAIL_MODULE_BEHIND_FORK_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <cstddef>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the deepest module shared by everything after the fork of an operator's two inputs,
/// `from` included; `no_id` if they do not fork within `max_steps` operators.
///
/// `vertex` and `position` are by vertex index, the latter in an order of the graph. `steady`
/// operators are independent of data. `module_of(vertex)` is what is known of an operator, or
/// `no_id`. Complexity: O(max_steps * log max_steps), and the edges of as many operators.
template <operator_view Ops, class ModuleOf>
[[nodiscard]] id module_behind_fork(const Ops& ops, const vertices_by_index<graph_of<Ops>>& vertex,
                                    const std::vector<id>& position,
                                    const std::vector<bool>& steady, const tree_index& tree,
                                    operator_t<Ops> from, std::size_t max_steps,
                                    ModuleOf module_of) {
    const auto& graph = ops.graph();
    std::priority_queue<std::pair<id, id>> open; // position and index, the last one first
    std::unordered_map<id, unsigned> inputs;     // by index: which of them it leads to
    const auto reach = [&](operator_t<Ops> to, unsigned which) {
        const auto u = static_cast<id>(index_of(graph, to));
        if (steady[u]) {
            return;
        }
        auto& sides = inputs[u];
        if (sides == 0) {
            open.emplace(position[u], u);
        }
        sides |= which;
    };
    unsigned which = 1;
    for (auto [in, last] = in_edges(from, graph); in != last; ++in, which = 2) {
        reach(source(*in, graph), which);
    }
    std::vector<id> seen; // the last one first
    while (!open.empty() && seen.size() < max_steps && inputs[open.top().second] != 3) {
        const auto u = open.top().second;
        open.pop();
        seen.push_back(u);
        for (auto [in, last] = in_edges(vertex[u], graph); in != last; ++in) {
            reach(source(*in, graph), inputs[u]);
        }
    }
    if (open.empty() || inputs[open.top().second] != 3) {
        return no_id;
    }
    common_module around_both;
    around_both.add(module_of(from));
    std::unordered_set<id> behind{open.top().second};
    for (auto u = seen.rbegin(); u != seen.rend(); ++u) {
        auto [in, last] = in_edges(vertex[*u], graph);
        if (std::any_of(in, last, [&](const auto& edge) {
                return behind.contains(static_cast<id>(index_of(graph, source(edge, graph))));
            })) {
            behind.insert(*u);
            around_both.add(module_of(vertex[*u]));
        }
    }
    return around_both.get(tree);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_MODULE_BEHIND_FORK_HPP
