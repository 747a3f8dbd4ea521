// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_REPROPAGATE_HPP
#define STEMMA_TAGGING_REPROPAGATE_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/tagging/propagate.hpp>
#include <stemma/tagging/propagation.hpp>

#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Updates modules after a change of the graph: those of operators without one, and of operators
/// whose module was inferred, as their neighbours may have changed.
///
/// `result` is by vertex index of the changed graph. Afterwards it is what `propagate` computes
/// from the evidence alone.
/// Returns: the vertex indices whose module changed, ascending.
/// Complexity: that of `propagate`.
template <operator_view Ops, propagation_policy<Ops> Policy = both_sides>
std::vector<id> repropagate(const Ops& ops, const tree_index& modules,
                            std::span<attribution> result, const Policy& policy = {}) {
    std::vector<id> before(result.size());
    for (id v = 0; v < result.size(); ++v) {
        before[v] = result[v].module;
        if (!is_evidence(result[v].source)) {
            result[v] = {};
        }
    }
    propagate(ops, modules, result, policy);
    std::vector<id> changed;
    for (id v = 0; v < result.size(); ++v) {
        if (result[v].module != before[v]) {
            changed.push_back(v);
        }
    }
    return changed;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_REPROPAGATE_HPP
