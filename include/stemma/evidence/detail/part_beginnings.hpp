// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_PART_BEGINNINGS_HPP
#define STEMMA_EVIDENCE_DETAIL_PART_BEGINNINGS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/evidence/detail/scope_resolver.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds operators in parted scopes that only operators of another module read, behind none that
/// reads parameters of the scope's own: these begin what the other module does. `reads_own` marks
/// operators that read such parameters, or the results of those that do in the same scope; `parted`
/// has the modules of those that belong to others, by vertex index.
/// Complexity: O(operators + edges).
template <operator_view Ops>
void part_beginnings(const Ops& ops, const scope_table& table, const std::vector<bool>& reads_own,
                     std::unordered_map<id, scope_module>& parted) {
    const auto& graph = ops.graph();
    const sweep_order<graph_of<Ops>> order(graph);
    order.backward([&](const operator_t<Ops>& vertex) {
        const auto v = static_cast<id>(index_of(graph, vertex));
        const auto [out, last] = out_edges(vertex, graph);
        if (table.scope_of[v] == no_id || reads_own[v] || parted.contains(v)) {
            return;
        }
        id other = no_id;
        const bool all = out != last && std::all_of(out, last, [&](const auto& edge) {
                             const auto w = static_cast<id>(index_of(graph, target(edge, graph)));
                             const auto reader = parted.find(w);
                             const bool is_parted =
                                 table.scope_of[w] == table.scope_of[v] && reader != parted.end();
                             other = is_parted && other == no_id ? reader->second.module : other;
                             return is_parted && reader->second.module == other;
                         });
        if (all) {
            parted[v] = {other, no_id, no_id, detail::confidence::scope};
        }
    });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_PART_BEGINNINGS_HPP
