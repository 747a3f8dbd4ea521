// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_STACKED_RESULTS_HPP
#define STEMMA_EVIDENCE_DETAIL_STACKED_RESULTS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/detail/wired_operators.hpp>
#include <stemma/model/operator_view.hpp>

#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Calls `f(part, whole)` for every Unsqueeze that prepares a result for the Concat `whole`, whose
/// other inputs are prepared in the same way: `torch.stack` as the exporter writes it.
/// Complexity: O(V + E).
template <operator_view Ops, class Function>
void for_each_stacked_result(const wired_operators<Ops>& wires, Function f) {
    std::vector<id> served(wires.size(), no_id); // the only reader of an Unsqueeze
    for (id v = 0; v < wires.size(); ++v) {
        const auto readers = wires.readers(v);
        if (wires.is(v, "Unsqueeze") && !readers.empty() &&
            range::all_of(readers, [&](id w) { return w == readers.front(); })) {
            served[v] = readers.front();
        }
    }
    for (id whole = 0; whole < wires.size(); ++whole) {
        const auto parts = wires.producers(whole);
        if (wires.is(whole, "Concat") && !parts.is_single() &&
            range::all_of(parts, [&](id part) { return served[part] == whole; })) {
            for (const auto part : parts) {
                f(part, whole);
            }
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_STACKED_RESULTS_HPP
