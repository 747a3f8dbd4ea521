// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_INSERTED_CONVERSIONS_HPP
#define STEMMA_EVIDENCE_DETAIL_INSERTED_CONVERSIONS_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/find_scope.hpp>
#include <stemma/evidence/detail/inlined_name.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/operator_view.hpp>

#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: layout conversions inserted for a runtime, but for those that make the value of a
/// Transpose, whose name is left; and Reshapes inserted behind a product. Complexity: O(operators).
template <named_operators Ops>
[[nodiscard]] std::vector<operator_t<Ops>> find_conversions(const Ops& ops,
                                                            const scope_table& table) {
    const auto& graph = ops.graph();
    std::vector<operator_t<Ops>> conversions;
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const bool converts =
            is_conversion(ops.op_type(*it))
                ? !makes_transposed(ops, *it)
                : table.scope_of[index_of(graph, *it)] == no_id &&
                      (reshapes_product(ops.name(*it)) || transposes_layout(ops.name(*it)) ||
                       reshapes_layout(ops, *it));
        if (converts) {
            conversions.push_back(*it);
        }
    }
    return conversions;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_INSERTED_CONVERSIONS_HPP
