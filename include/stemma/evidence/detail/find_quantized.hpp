// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_FIND_QUANTIZED_HPP
#define STEMMA_EVIDENCE_DETAIL_FIND_QUANTIZED_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/model/operator_view.hpp>

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// What quantizers append to the name of a weight for its quantized values.
inline constexpr std::array<std::string_view, 2> quantized_suffixes{"_quantized", "_Q4"};

/// Whether all but one of the inputs of an operator are constants. Complexity: O(inputs).
template <named_operators Ops>
[[nodiscard]] bool computes_from_one(const Ops& ops, operator_t<Ops> v) {
    std::size_t computed = reads_data(ops, v) ? 1 : 0;
    for (auto [in, last] = in_edges(v, ops.graph()); in != last; ++in) {
        const std::string_view from = ops.op_type(source(*in, ops.graph()));
        computed += from == "Constant" ? 0U : 1U;
    }
    return computed == 1;
}

/// Returns: what an operator follows that a quantizer inserts: conversions, and behind a product of
/// integers a Cast, then a product with the scale, and if it is a convolution an addition of its
/// bias. Nothing for others. Complexity: O(inputs).
template <named_operators Ops>
[[nodiscard]] std::optional<operator_t<Ops>> find_quantized(const Ops& ops, operator_t<Ops> v) {
    const std::string_view type = ops.op_type(v);
    const bool converts = is_quantization(type);
    if (!converts && type != "Cast" && type != "Mul" && type != "Add") {
        return std::nullopt;
    }
    const auto follows = [&](operator_t<Ops> u) {
        const std::string_view from = ops.op_type(u);
        if (converts) {
            return from != "Constant"; // a scale
        }
        if (type == "Cast") {
            return is_integer_product(from);
        }
        if (type == "Mul") {
            return from == "Cast" && find_quantized(ops, u).has_value();
        }
        const auto cast = from == "Mul" ? find_quantized(ops, u) : std::nullopt;
        const auto product = cast ? find_quantized(ops, *cast) : std::nullopt;
        return product && std::string_view(ops.op_type(*product)) == "ConvInteger";
    };
    if (type == "Add" && !computes_from_one(ops, v)) {
        return std::nullopt;
    }
    for (auto [in, last] = in_edges(v, ops.graph()); in != last; ++in) {
        const auto u = source(*in, ops.graph());
        if (follows(u)) {
            return u;
        }
        if (type == "Cast") {
            break; // has one input
        }
    }
    return std::nullopt;
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
            const std::string_view from = ops.op_type(source(*in, ops.graph()));
            if (from == "DynamicQuantizeLinear") {
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
