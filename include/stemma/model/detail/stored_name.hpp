// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_STORED_NAME_HPP
#define STEMMA_MODEL_DETAIL_STORED_NAME_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/operator_view.hpp>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the name of an operator in the file. A view may call it otherwise for evidence, as its
/// exporter did.
template <named_operators Ops>
[[nodiscard]] decltype(auto) stored_name(const Ops& ops, const operator_t<Ops>& v) {
    if constexpr (requires { ops.stored_name(v); }) {
        return ops.stored_name(v);
    } else {
        return ops.name(v);
    }
}

/// Returns: the name of a parameter in the file, likewise.
template <parameter_readers Ops>
[[nodiscard]] decltype(auto) stored_parameter_name(const Ops& ops, id p) {
    if constexpr (requires { ops.stored_parameter_name(p); }) {
        return ops.stored_parameter_name(p);
    } else {
        return ops.parameter_name(p);
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_STORED_NAME_HPP
