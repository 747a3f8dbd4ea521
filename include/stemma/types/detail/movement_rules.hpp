// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_MOVEMENT_RULES_HPP
#define STEMMA_TYPES_DETAIL_MOVEMENT_RULES_HPP

#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

/// Rules for operators that move elements unchanged, or take parts of a tensor.
namespace stemma::inline STEMMA_ABI::detail::rules {

inline void unsqueeze(const rule_node& node) {
    const auto& x = node.input(0);
    const auto axes = node.literal(1, "axes");
    const auto added = axes ? std::optional(axes->size()) : fact_table::length_of(node.input(1));
    if (!x.ranked() || !added) {
        return node.set_type_like(0, 0);
    }
    const auto rank = x.rank() + *added;
    if (rank > max_extents) {
        return node.set_type_like(0, 0);
    }
    extents dims(rank, any_extent);
    if (axes) {
        std::vector<bool> is_new(rank, false);
        for (auto axis : *axes) {
            const auto at = axis_of(axis, rank);
            if (!at) {
                return node.set_type_like(0, 0);
            }
            is_new[*at] = true;
        }
        std::size_t from = 0;
        for (std::size_t i = 0; i < rank; ++i) {
            dims[i] = is_new[i] ? 1 : from < x.rank() ? (*x.dims)[from++] : any_extent;
        }
    }
    node.set(0, {x.data_type, std::move(dims), x.rank() == 0 ? x.numbers : std::nullopt});
}

inline void squeeze(const rule_node& node) {
    const auto& x = node.input(0);
    const auto axes = node.literal(1, "axes");
    if (!x.ranked() || (!axes && node.has_input(1))) {
        return node.set_type_like(0, 0);
    }
    std::vector<bool> gone(x.rank(), false);
    if (axes) {
        for (auto axis : *axes) {
            const auto at = axis_of(axis, x.rank());
            if (!at) {
                return node.set_type_like(0, 0);
            }
            gone[*at] = true;
        }
    } else {
        for (std::size_t i = 0; i < x.rank(); ++i) {
            if ((*x.dims)[i] < 0) {
                return node.set_type_like(0, 0); // an unknown extent may or may not be removed
            }
            gone[i] = (*x.dims)[i] == 1;
        }
    }
    extents dims;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (!gone[i]) {
            dims.push_back((*x.dims)[i]);
        }
    }
    node.set(0, {x.data_type, std::move(dims), x.numbers});
}

inline void transpose(const rule_node& node) {
    const auto& x = node.input(0);
    auto order = node.attributes().wholes("perm").value_or(extents{});
    if (!x.ranked()) {
        node.set(0, x.data_type,
                 order.empty() ? std::nullopt : std::optional(extents(order.size(), any_extent)));
        return;
    }
    for (auto i = x.rank(); order.size() < x.rank() && i-- > 0;) {
        order.push_back(static_cast<std::int64_t>(i));
    }
    extents dims;
    for (auto from : order) {
        const auto at = axis_of(from, x.rank());
        dims.push_back(at ? (*x.dims)[*at] : any_extent);
    }
    if (dims.size() == x.rank()) {
        node.set(0, x.data_type, std::move(dims));
    }
}

inline void concat(const rule_node& node) {
    const auto& x = node.input(0);
    std::optional<extents> dims = x.dims;
    std::optional<extents> numbers = extents{};
    for (std::size_t slot = 0; slot < node.input_count(); ++slot) {
        const auto& part = node.input(slot);
        if (!dims && part.ranked()) {
            dims = extents(part.rank(), any_extent);
        }
        if (numbers && numbers->size() > max_extents) {
            numbers.reset();
        } else if (part.numbers && numbers) {
            numbers->insert(numbers->end(), part.numbers->begin(), part.numbers->end());
        } else if (const auto length = fact_table::length_of(part); length && numbers) {
            numbers->insert(numbers->end(), *length, any_extent);
        } else {
            numbers.reset();
        }
    }
    if (!dims) {
        return node.set_type_like(0, 0);
    }
    const auto axis = axis_of(node.whole("axis", 1), dims->size());
    std::int64_t sum = 0;
    for (std::size_t slot = 0; axis && slot < node.input_count(); ++slot) {
        const auto& part = node.input(slot);
        const bool has_extent =
            part.ranked() && part.rank() == dims->size() && (*part.dims)[*axis] >= 0 && sum >= 0;
        sum = has_extent ? add_extents(sum, (*part.dims)[*axis]) : any_extent;
    }
    if (axis) {
        (*dims)[*axis] = sum;
        const bool flat = dims->size() == 1;
        node.set(0, {x.data_type, std::move(dims), flat ? numbers : std::nullopt});
    } else {
        node.set_type_like(0, 0);
    }
}

/// Returns: extents gathered from a shape by a constant index.
[[nodiscard]] inline std::optional<extents> gathered(const rule_node& node, const tensor_facts& x) {
    const auto indices = node.literal(1);
    if (!x.numbers || !x.ranked() || x.rank() > 1 || !indices) {
        return std::nullopt;
    }
    extents picked;
    for (auto index : *indices) {
        const auto at = axis_of(index, x.numbers->size());
        picked.push_back(at ? (*x.numbers)[*at] : any_extent);
    }
    return picked;
}

inline void gather(const rule_node& node) {
    const auto& x = node.input(0);
    const auto& indices = node.input(1);
    const auto axis =
        x.ranked() && indices.ranked() ? axis_of(node.whole("axis", 0), x.rank()) : std::nullopt;
    if (axis) {
        const auto at = static_cast<std::ptrdiff_t>(*axis);
        extents dims(x.dims->begin(), x.dims->begin() + at);
        dims.insert(dims.end(), indices.dims->begin(), indices.dims->end());
        dims.insert(dims.end(), x.dims->begin() + at + 1, x.dims->end());
        node.set(0, {x.data_type, std::move(dims), gathered(node, x)});
    } else {
        node.set_type_like(0, 0);
    }
}

inline void gather_elements(const rule_node& node) {
    if (const auto& indices = node.input(1); indices.ranked()) {
        node.set(0, node.input(0).data_type, indices.dims);
    }
}

inline void gather_nd(const rule_node& node) {
    const auto& x = node.input(0);
    const auto& indices = node.input(1);
    if (!x.ranked() || !indices.ranked() || indices.rank() == 0 || indices.dims->back() < 0) {
        return node.set_type_like(0, 0);
    }
    const auto taken = static_cast<std::size_t>(indices.dims->back()) +
                       static_cast<std::size_t>(node.whole("batch_dims", 0));
    if (taken <= x.rank()) {
        node.set(0, x.data_type, extents(indices.rank() - 1 + x.rank() - taken, any_extent));
    } else {
        node.set_type_like(0, 0);
    }
}

/// The elements of an axis that a Slice takes: `first`, `first + step`, and so on.
struct slice_range {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t step = 1;
};

/// Returns: the part of an axis of `extent` elements that a Slice takes: negative positions count
/// from the end, out-of-range ones are clamped. Nothing for an unknown extent, or a step of zero.
[[nodiscard]] constexpr std::optional<slice_range> find_slice_range(std::int64_t start,
                                                                    std::int64_t end,
                                                                    std::int64_t step,
                                                                    std::int64_t extent) noexcept {
    if (extent < 0 || step == 0) {
        return std::nullopt;
    }
    step = std::max(step, -std::numeric_limits<std::int64_t>::max());
    start += start < 0 ? extent : 0;
    end += end < 0 ? extent : 0;
    if (step > 0) {
        start = std::clamp<std::int64_t>(start, 0, extent);
        end = std::clamp<std::int64_t>(end, 0, extent);
        return slice_range{start, end <= start ? 0 : (end - start - 1) / step + 1, step};
    }
    start = std::min(std::max<std::int64_t>(start, 0), extent - 1);
    end = std::clamp<std::int64_t>(end, -1, std::max<std::int64_t>(extent - 1, -1));
    return slice_range{start, start <= end ? 0 : (start - end - 1) / -step + 1, step};
}

[[nodiscard]] inline std::optional<extents> take(const extents& numbers, const slice_range& range) {
    extents taken;
    for (std::int64_t i = 0; i < range.count; ++i) {
        const auto at = static_cast<std::size_t>(range.first + i * range.step);
        if (at >= numbers.size()) {
            return std::nullopt;
        }
        taken.push_back(numbers[at]);
    }
    return taken;
}

inline void slice(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked()) {
        return node.set_type_like(0, 0);
    }
    const auto starts = node.literal(1, "starts");
    const auto ends = node.literal(2, "ends");
    const auto steps = node.literal(4, "steps");
    auto axes = node.literal(3, "axes");
    const bool exact = starts && ends && starts->size() == ends->size() &&
                       (steps ? steps->size() == starts->size() : !node.has_input(4)) &&
                       (axes ? axes->size() == starts->size() : !node.has_input(3));
    if (!axes) {
        const auto count = node.has_input(3) ? std::nullopt
                           : starts          ? std::optional(starts->size())
                                             : fact_table::length_of(node.input(1));
        axes = all_axes(std::min(count.value_or(x.rank()), x.rank()));
    }
    auto sliced = made(x.data_type, x.dims);
    sliced.numbers = x.rank() == 1 && exact && axes->size() == 1 ? x.numbers : std::nullopt;
    for (std::size_t i = 0; i < axes->size(); ++i) {
        const auto at = axis_of((*axes)[i], x.rank());
        if (!at) {
            sliced.numbers.reset();
            continue;
        }
        const auto range = exact ? find_slice_range((*starts)[i], (*ends)[i],
                                                    steps ? (*steps)[i] : 1, (*x.dims)[*at])
                                 : std::nullopt;
        (*sliced.dims)[*at] = range ? range->count : any_extent;
        if (sliced.numbers) {
            sliced.numbers = range ? take(*x.numbers, *range) : std::nullopt;
        }
    }
    node.set(0, std::move(sliced));
}

/// What is not padded keeps its extent, whatever that is.
inline void pad(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked()) {
        return node.set_type_like(0, 0);
    }
    const auto pads = node.literal(1, "pads");
    const bool exact = pads && pads->size() == 2 * x.rank() && !node.has_input(3);
    auto dims = extents(x.rank(), any_extent);
    for (std::size_t i = 0; exact && i < dims.size(); ++i) {
        const auto extent = (*x.dims)[i];
        const auto before = (*pads)[i];
        const auto behind = (*pads)[i + x.rank()];
        dims[i] =
            before == 0 && behind == 0 ? extent : add_extents(add_extents(extent, before), behind);
    }
    node.set(0, x.data_type, std::move(dims));
}

inline void split(const rule_node& node) {
    const auto& x = node.input(0);
    const auto count = node.output_count();
    const auto axis = x.ranked() ? axis_of(node.whole("axis", 0), x.rank()) : std::nullopt;
    const auto sizes = node.literal(1, "split");
    std::int64_t first = 0;
    for (std::size_t i = 0; axis && i < count; ++i) {
        const auto whole = (*x.dims)[*axis];
        auto size = any_extent;
        if (sizes && sizes->size() == count) {
            size = std::max((*sizes)[i], any_extent);
        } else if (!sizes && !node.has_input(1) && whole >= 0) {
            // Only the last part may be smaller.
            const auto parts = static_cast<std::int64_t>(count);
            const auto each = whole / parts + (whole % parts == 0 ? 0 : 1);
            size = std::clamp<std::int64_t>(whole - first, 0, each);
        }
        auto part = made(x.data_type, x.dims);
        (*part.dims)[*axis] = size;
        if (x.numbers && x.rank() == 1 && size >= 0 && first >= 0) {
            part.numbers = take(*x.numbers, {first, size, 1});
        }
        first = size >= 0 && first >= 0 ? add_extents(first, size) : any_extent;
        node.set(i, std::move(part));
    }
}

/// Some axes get the given extents.
inline void crop_or_pad(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked()) {
        return;
    }
    auto axes = node.attributes().wholes("axes").value_or(extents{});
    if (axes.empty()) {
        axes = all_axes(x.rank());
    }
    const auto sizes = fact_table::shape_in(node.input(1));
    auto dims = *x.dims;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (const auto at = axis_of(axes[i], dims.size())) {
            dims[*at] = sizes && i < sizes->size() ? (*sizes)[i] : any_extent;
        }
    }
    node.set(0, x.data_type, std::move(dims));
}

} // namespace stemma::inline STEMMA_ABI::detail::rules

#endif // STEMMA_TYPES_DETAIL_MOVEMENT_RULES_HPP
