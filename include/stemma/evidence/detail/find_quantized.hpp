// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_FIND_QUANTIZED_HPP
#define STEMMA_EVIDENCE_DETAIL_FIND_QUANTIZED_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/model/operator_view.hpp>

#include <array>
#include <iterator>
#include <optional>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// What quantizers append to the name of a weight for its quantized values.
inline constexpr std::array<std::string_view, 2> quantized_suffixes{"_quantized", "_Q4"};

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

/// Returns: the addition of a parameter behind a product that quantizers put in place of one with a
/// bias, through the conversions behind a product of integers, if nothing else reads the product.
/// Nothing for others. Complexity: O(1), and the parameters of the addition.
template <named_operators Ops>
    requires parameter_readers<Ops>
[[nodiscard]] std::optional<operator_t<Ops>> find_quantized_bias(const Ops& ops,
                                                                 operator_t<Ops> v) {
    const std::string_view type = ops.op_type(v);
    const bool is_packed =
        type.ends_with("NBits") || type.ends_with("Bnb4") || type.ends_with("FpQ4");
    if (!is_packed && !is_integer_product(type)) {
        return std::nullopt;
    }
    constexpr int steps = 3; // Cast, Mul, Add
    for (int step = 0; step < steps; ++step) {
        const auto [out, last] = out_edges(v, ops.graph());
        if (out == last || std::next(out) != last) {
            return std::nullopt;
        }
        v = target(*out, ops.graph());
        const std::string_view next = ops.op_type(v);
        if (next == "Add") {
            bool reads = false;
            ops.for_each_parameter(v, [&](id) { reads = true; });
            return reads ? std::optional(v) : std::nullopt;
        }
        if (is_packed || (next != "Cast" && next != "Mul")) {
            return std::nullopt;
        }
    }
    return std::nullopt;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_FIND_QUANTIZED_HPP
