// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_FIND_QUANTIZED_HPP
#define STEMMA_EVIDENCE_DETAIL_FIND_QUANTIZED_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/model/operator_view.hpp>

#include <optional>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: what an operator follows that a quantizer inserts: conversions, and behind a
/// product of integers a Cast and then a product with the scale. Nothing for others.
/// Complexity: O(inputs).
template <named_operators Ops>
[[nodiscard]] std::optional<operator_t<Ops>> find_quantized(const Ops& ops, operator_t<Ops> v) {
    const std::string_view type = ops.op_type(v);
    const bool converts = is_quantization(type);
    const bool scales = type == "Mul";
    if (!converts && !scales && type != "Cast") {
        return std::nullopt;
    }
    for (auto [in, last] = in_edges(v, ops.graph()); in != last; ++in) {
        const auto u = source(*in, ops.graph());
        const std::string_view from = ops.op_type(u);
        // A scale may be a Constant.
        if (converts ? from != "Constant"
                     : (scales ? from == "Cast" && find_quantized(ops, u).has_value()
                               : is_integer_product(from))) {
            return u;
        }
    }
    return std::nullopt;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_FIND_QUANTIZED_HPP
