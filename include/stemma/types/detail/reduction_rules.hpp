// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_REDUCTION_RULES_HPP
#define STEMMA_TYPES_DETAIL_REDUCTION_RULES_HPP

#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

/// Rules for reductions: sums, maxima, indices.
namespace stemma::inline STEMMA_ABI::detail::rules {

/// Notes the first input with some axes reduced; without `axes` all of them, or none if an
/// attribute says so.
inline void set_reduced(const rule_node& node, std::int64_t data_type,
                        const std::optional<extents>& axes) {
    const auto& x = node.input(0);
    const bool keeps = node.whole("keepdims", 1) != 0;
    const bool all = (!axes || axes->empty()) && !node.is_set("noop_with_empty_axes");
    std::vector<bool> reduced(x.rank(), all);
    for (auto axis : axes.value_or(extents{})) {
        if (const auto at = axis_of(axis, x.rank())) {
            reduced[*at] = true;
        }
    }
    extents dims;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (!reduced[i] || keeps) {
            dims.push_back(reduced[i] ? 1 : (*x.dims)[i]);
        }
    }
    node.set(0, data_type, std::move(dims));
}

inline void reduction(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked()) {
        return node.set_type_like(0, 0);
    }
    const auto axes = node.literal(1, "axes");
    if (axes || !node.has_input(1)) {
        set_reduced(node, x.data_type, axes);
    } else if (node.whole("keepdims", 1) != 0) {
        node.set(0, x.data_type, extents(x.rank(), any_extent));
    } else {
        node.set_type_like(0, 0);
    }
}

inline void place_of_extreme(const rule_node& node) {
    if (node.input(0).ranked()) {
        set_reduced(node, int64_type, extents{node.whole("axis", 0)});
    }
}

/// Returns: the number in an input of one element, as an extent.
[[nodiscard]] inline std::int64_t extent_in(const rule_node& node, std::size_t slot) {
    const auto numbers = node.numbers(slot);
    return numbers && numbers->size() == 1 ? node.algebra().extent(numbers->front()) : any_extent;
}

inline void top(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked()) {
        return;
    }
    if (const auto axis = axis_of(node.whole("axis", -1), x.rank())) {
        auto dims = *x.dims;
        dims[*axis] = node.has_input(1) ? extent_in(node, 1)
                                        : std::max(any_extent, node.whole("k", any_extent));
        node.set(0, x.data_type, dims);
        node.set(1, int64_type, std::move(dims));
    }
}

inline void one_hot(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked()) {
        return;
    }
    auto dims = *x.dims;
    if (const auto axis = axis_of(node.whole("axis", -1), x.rank() + 1)) {
        dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(*axis), extent_in(node, 1));
    } else {
        dims.assign(x.rank() + 1, any_extent);
    }
    node.set(0, node.input(2).data_type, std::move(dims));
}

inline void non_zero(const rule_node& node) {
    const auto& x = node.input(0);
    const auto rank = x.ranked() ? static_cast<std::int64_t>(x.rank()) : any_extent;
    node.set(0, int64_type, extents{rank, any_extent});
}

} // namespace stemma::inline STEMMA_ABI::detail::rules

#endif // STEMMA_TYPES_DETAIL_REDUCTION_RULES_HPP
