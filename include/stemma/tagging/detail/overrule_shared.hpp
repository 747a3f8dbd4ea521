// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_DETAIL_OVERRULE_SHARED_HPP
#define STEMMA_TAGGING_DETAIL_OVERRULE_SHARED_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/neighbours.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>
#include <stemma/tagging/resolve_evidence.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// An attribution overruled by its readers.
struct overruled {
    id v = no_id;       ///< vertex index
    attribution before; ///< the attribution by evidence
    id readers = no_id; ///< the common ancestor of the readers' modules
    float least = 0;    ///< the least confidence among them
};

/// Corrects the evidence on constants and shape computations that several modules use.
///
/// Exporters compute equal ones once and leave them in the scope of the first module. One that is
/// read both in its module and in an unrelated one belongs to the common ancestor of its module and
/// all its readers; so does a constant that only others read. A computation read only by others is
/// a result of its module, like the angles of rotary embeddings. A module owned elsewhere reads for
/// its caller.
///
/// `result` is by vertex index, with `module == no_id` if unknown; `independent` is the result of
/// `data_independent` for `ops`; `callers` has the callers of modules owned elsewhere.
/// Returns: what changed, in the order of `vertices`.
/// Complexity: O(V + edges of independent operators), times O(log lists) for readers elsewhere.
template <operator_view Ops>
std::vector<overruled>
overrule_shared(const Ops& ops, const tree_index& modules, std::span<attribution> result,
                const std::vector<bool>& independent, const per_operator_lists<id>& callers = {}) {
    std::vector<overruled> changed;
    if constexpr (data_aware_operators<Ops>) {
        const auto& graph = ops.graph();
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            const auto v = static_cast<id>(index_of(graph, *it));
            const auto& entry = result[v];
            if (entry.module == no_id || !independent[v]) {
                continue;
            }
            bool foreign = false;
            bool own = producers_of(graph, *it).empty(); // a constant may be in any scope
            common_module readers;
            float least = std::min(confidence::read_by_others, entry.confidence);
            for (const auto w : readers_of(graph, *it)) {
                const auto& read_by = result[w];
                if (auto reader = read_by.module; reader != no_id) {
                    if (!modules.are_related(reader, entry.module)) {
                        for (auto caller : callers.of(w)) {
                            reader = modules.are_related(caller, entry.module) ? caller : reader;
                        }
                    }
                    readers.add(reader);
                    least = std::min(least, read_by.confidence);
                    foreign = foreign || !modules.are_related(reader, entry.module);
                    own = own || modules.is_ancestor(entry.module, reader);
                }
            }
            if (foreign && own) {
                changed.push_back({v, entry, readers.get(modules), least});
            }
        }
        for (const auto& [v, before, common, least] : changed) { // after all have been examined
            result[v] = {modules.lca(before.module, common), no_id, least, before.source, true};
        }
    }
    return changed;
}

/// The same, computing `data_independent`. Complexity: O(V + E).
template <operator_view Ops>
std::vector<overruled> overrule_shared(const Ops& ops, const tree_index& modules,
                                       std::span<attribution> result) {
    const sweep_order order(ops.graph());
    return overrule_shared(ops, modules, result, data_independent(ops, order));
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TAGGING_DETAIL_OVERRULE_SHARED_HPP
