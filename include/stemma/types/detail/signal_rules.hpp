// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_SIGNAL_RULES_HPP
#define STEMMA_TYPES_DETAIL_SIGNAL_RULES_HPP

#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

/// Rules for signals: Fourier transforms, windows of samples, filter banks.
namespace stemma::inline STEMMA_ABI::detail::rules {

/// Returns: the only element of a small constant input; unknown if there is none.
[[nodiscard]] inline std::int64_t single_number(const rule_node& node, std::size_t slot) {
    const auto numbers = node.has_input(slot) ? node.literal(slot) : std::nullopt;
    return numbers && numbers->size() == 1 && numbers->front() >= 0 ? numbers->front() : any_extent;
}

/// Returns: the number of frequencies of a transform of that length.
[[nodiscard]] inline std::int64_t frequencies(std::int64_t length, bool onesided) {
    return length < 0 ? any_extent : onesided ? length / 2 + 1 : length;
}

/// Frames of a signal, each transformed.
inline void short_transform(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked() || x.rank() < 2) {
        return;
    }
    const auto samples = (*x.dims)[1];
    const auto& window = node.input(2);
    auto length = single_number(node, 3);
    if (!node.has_input(3)) {
        length = !node.has_input(2)                      ? samples
                 : window.ranked() && window.rank() == 1 ? window.dims->front()
                                                         : any_extent;
    }
    const auto step = single_number(node, 1);
    const bool counted = samples >= 0 && length >= 0 && length <= samples && step > 0;
    node.set(0, x.data_type,
             extents{x.dims->front(), counted ? (samples - length) / step + 1 : any_extent,
                     frequencies(length, node.whole("onesided", 1) != 0), 2});
}

/// A signal transformed along one axis; numbers are complex afterwards.
inline void transform(const rule_node& node) {
    constexpr std::int64_t axis_is_input = 20;
    const auto& x = node.input(0);
    if (!x.ranked() || x.rank() == 0) {
        return;
    }
    const bool onesided = node.is_set("onesided");
    const bool inverse = node.is_set("inverse");
    std::optional<std::int64_t> axis = -2;
    if (node.opset() < axis_is_input) {
        axis = node.whole("axis", 1);
    } else if (node.has_input(2)) {
        const auto given = node.literal(2);
        axis = given && given->size() == 1 ? std::optional(given->front()) : std::nullopt;
    }
    auto dims = *x.dims;
    const auto at = axis ? axis_of(*axis, dims.size()) : std::nullopt;
    if (!at) {
        dims.assign(dims.size(), any_extent);
    } else {
        const auto length = node.has_input(1) ? single_number(node, 1) : dims[*at];
        dims[*at] = !onesided ? length : inverse ? any_extent : frequencies(length, true);
    }
    dims.back() = onesided && inverse ? any_extent : 2;
    node.set(0, x.data_type, std::move(dims));
}

/// As many samples of a window function as the input says.
inline void window(const rule_node& node) {
    node.set(0, node.whole("output_datatype", float_type), extents{single_number(node, 0)});
}

/// Weights from frequencies to bins.
inline void filter_bank(const rule_node& node) {
    node.set(0, node.whole("output_datatype", float_type),
             extents{frequencies(single_number(node, 1), true), single_number(node, 0)});
}

} // namespace stemma::inline STEMMA_ABI::detail::rules

#endif // STEMMA_TYPES_DETAIL_SIGNAL_RULES_HPP
