// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_TRANSPOSED_MODULE_HPP
#define STEMMA_EVIDENCE_DETAIL_TRANSPOSED_MODULE_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the module that a Transpose lays out a value for, if only operators of that module read
/// it, and only other Transposes their results; else `no_id`.
/// Complexity: a bounded number of operators.
template <operator_view Ops, module_view Modules>
[[nodiscard]] id transposed_module(const region_facts<Ops, Modules>& facts, id v) {
    constexpr std::size_t max_region = 32;
    const auto readers = facts.readers(v);
    const auto module =
        readers.empty() || !facts.is(v, "Transpose") ? no_id : facts.owner[readers.front()];
    std::vector<id> region{v};
    bool again = false;
    for (std::size_t i = 0; i < region.size() && module != no_id; ++i) {
        for (const auto w : facts.readers(region[i])) {
            const bool leaves = facts.owner[w] != module;
            if ((leaves && (i == 0 || !facts.is(w, "Transpose"))) || region.size() == max_region) {
                return no_id;
            }
            again = again || leaves;
            if (!leaves && !range::contains(region, w)) {
                region.push_back(w);
            }
        }
    }
    return again ? module : no_id;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_TRANSPOSED_MODULE_HPP
