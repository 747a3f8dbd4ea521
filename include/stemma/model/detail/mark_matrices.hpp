// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_MARK_MATRICES_HPP
#define STEMMA_MODEL_DETAIL_MARK_MATRICES_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: by parameter, whether it is marked and must be a weight; empty if the view cannot tell.
/// Complexity: that of `keep_matrices`.
template <operator_view Ops>
[[nodiscard]] std::vector<bool> keep_matrices(const Ops& ops, std::vector<bool> marked) {
    if constexpr (sized_parameters<Ops>) {
        ops.keep_matrices(marked);
    } else {
        marked.clear();
    }
    return marked;
}

/// As `keep_matrices`, of all parameters.
template <operator_view Ops>
[[nodiscard]] std::vector<bool> mark_matrices(const Ops& ops) {
    return keep_matrices(ops,
                         std::vector<bool>(static_cast<std::size_t>(ops.parameter_count()), true));
}

/// Returns: the parameter itself, which exporters may pass on under further names.
/// Complexity: O(1).
template <operator_view Ops>
[[nodiscard]] id origin_of(const Ops& ops, id p) {
    if constexpr (requires { ops.initializer_of(p); }) {
        return ops.initializer_of(p);
    }
    return p;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_MARK_MATRICES_HPP
