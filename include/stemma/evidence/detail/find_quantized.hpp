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

/// Returns: what an operator follows that a quantizer inserts: conversions, and behind a product of
/// integers a Cast, then a product with the scale, and if it is a convolution an addition of its
/// bias. Nothing for others. Complexity: O(inputs).
template <named_operators Ops>
[[nodiscard]] std::optional<operator_t<Ops>> find_quantized(const Ops& ops, operator_t<Ops> v) {
    const std::string_view type = ops.op_type(v);
    const bool converts = is_quantization(type);
    const bool scales = type == "Mul";
    if (!converts && !scales && type != "Cast" && type != "Add") {
        return std::nullopt;
    }
    const auto is_scaled_convolution = [&](operator_t<Ops> u) {
        const auto cast = find_quantized(ops, u);
        const auto product = cast ? find_quantized(ops, *cast) : cast;
        return product && std::string_view(ops.op_type(*product)) == "ConvInteger";
    };
    std::optional<operator_t<Ops>> followed;
    for (auto [in, last] = in_edges(v, ops.graph()); in != last; ++in) {
        const auto u = source(*in, ops.graph());
        const std::string_view from = ops.op_type(u);
        // A scale or bias may be a Constant.
        const bool follows = converts         ? from != "Constant"
                             : scales         ? from == "Cast" && find_quantized(ops, u).has_value()
                             : type == "Cast" ? is_integer_product(from)
                                              : from == "Mul" && is_scaled_convolution(u);
        if (follows && type != "Add") {
            return u;
        }
        if (type == "Add" && from != "Constant" && (!follows || followed)) {
            return std::nullopt; // adds what is no parameter
        }
        followed = follows ? std::optional(u) : followed;
    }
    if constexpr (data_aware_operators<Ops>) {
        followed = ops.reads_data(v) ? std::nullopt : followed;
    }
    return followed;
}

/// Whether a quantizer inserted an operator: what `find_quantized` finds, conversions of parameters
/// and inputs, and the product of the scales of both factors. Complexity: O(inputs).
template <named_operators Ops>
[[nodiscard]] bool is_inserted_by_quantizer(const Ops& ops, operator_t<Ops> v) {
    const std::string_view type = ops.op_type(v);
    if (is_quantization(type) || find_quantized(ops, v).has_value()) {
        return true;
    }
    if (type == "Mul") {
        for (auto [in, last] = in_edges(v, ops.graph()); in != last; ++in) {
            if (ops.op_type(source(*in, ops.graph())) == "DynamicQuantizeLinear") {
                return true; // of its results only the scale is multiplied
            }
        }
    }
    return false;
}

/// Returns: the addition of a parameter behind a product that quantizers put in place of one with a
/// bias, through the conversions behind a product of integers, if nothing else reads the product.
/// Nothing for others. Complexity: O(1), and the parameters of the addition.
template <named_operators Ops>
    requires parameter_readers<Ops>
[[nodiscard]] std::optional<operator_t<Ops>> find_quantized_bias(const Ops& ops,
                                                                 operator_t<Ops> v) {
    const std::string_view type = ops.op_type(v);
    const bool is_packed = is_packed_product(type);
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
