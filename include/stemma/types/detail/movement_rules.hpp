// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_MOVEMENT_RULES_HPP
#define STEMMA_TYPES_DETAIL_MOVEMENT_RULES_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/polynomial.hpp>

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

/// Whether the numbers of a matrix are known; exporters compute the amounts of a Pad in one.
[[nodiscard]] inline bool has_rows(const tensor_facts& x) {
    return x.numbers && x.ranked() && x.rank() == 2 && x.dims->back() > 0 &&
           multiply_extents(x.dims->front(), x.dims->back()) ==
               static_cast<std::int64_t>(x.numbers->size());
}

/// Returns: its numbers, column by column.
[[nodiscard]] inline extents columns(const tensor_facts& x) {
    const auto length = static_cast<std::size_t>(x.dims->back());
    const auto rows = x.numbers->size() / length;
    extents turned;
    for (std::size_t i = 0; i < x.numbers->size(); ++i) {
        turned.push_back((*x.numbers)[i % rows * length + i / rows]);
    }
    return turned;
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
        auto turned =
            has_rows(x) && order == extents{1, 0} ? std::optional(columns(x)) : std::nullopt;
        node.set(0, {x.data_type, std::move(dims), std::move(turned)});
    }
}

/// Returns: the numbers of all inputs in order, if each has a known length.
[[nodiscard]] inline std::optional<extents> joined_extents(const rule_node& node) {
    extents joined;
    for (std::size_t slot = 0; slot < node.input_count(); ++slot) {
        const auto part = fact_table::shape_in(node.input(slot));
        if (!part || joined.size() > max_extents) {
            return std::nullopt;
        }
        joined.insert(joined.end(), part->begin(), part->end());
    }
    return joined;
}

/// Besides the axis, inputs have equal extents, of which any may be known.
inline void concat(const rule_node& node) {
    const auto type = node.input(0).data_type;
    std::optional<extents> dims;
    for (std::size_t slot = 0; slot < node.input_count(); ++slot) {
        const auto& part = node.input(slot);
        if (!dims) {
            dims = part.dims;
        }
        for (std::size_t i = 0;
             dims && part.ranked() && part.rank() == dims->size() && i < dims->size(); ++i) {
            auto& extent = (*dims)[i];
            const auto other = (*part.dims)[i];
            extent = extent == any_extent || (extent < 0 && other > 0) ? other : extent;
        }
    }
    const auto axis = dims ? axis_of(node.whole("axis", 1), dims->size()) : std::nullopt;
    if (!axis) {
        return node.set_type_like(0, 0);
    }
    std::int64_t sum = 0;
    for (std::size_t slot = 0; slot < node.input_count(); ++slot) {
        const auto& part = node.input(slot);
        const bool fits = part.ranked() && part.rank() == dims->size();
        sum = node.algebra().add(sum, fits ? (*part.dims)[*axis] : any_extent);
    }
    (*dims)[*axis] = sum;
    auto numbers = dims->size() == 1 ? joined_extents(node) : std::nullopt;
    node.set(0, {type, std::move(dims), std::move(numbers)});
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
    const auto taken = add_extents(indices.dims->back(), node.whole("batch_dims", 0));
    if (taken < 0 || taken > static_cast<std::int64_t>(x.rank())) {
        return node.set_type_like(0, 0);
    }
    extents dims(indices.dims->begin(), indices.dims->end() - 1);
    dims.insert(dims.end(), x.dims->begin() + taken, x.dims->end());
    node.set(0, x.data_type, std::move(dims));
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

/// Returns: the numbers in a part of a vector, or in the rows of a matrix.
[[nodiscard]] inline std::optional<extents> take(const tensor_facts& x, const slice_range& range) {
    const std::int64_t length = x.rank() == 1 ? 1 : x.dims->back();
    extents taken;
    for (std::int64_t i = 0; i < range.count; ++i) {
        const auto from = (range.first + i * range.step) * length;
        if (from + length > static_cast<std::int64_t>(x.numbers->size())) {
            return std::nullopt;
        }
        taken.insert(taken.end(), x.numbers->begin() + from, x.numbers->begin() + from + length);
    }
    return taken;
}

/// Returns: the number of elements of an axis between two positions, negative ones counted from the
/// end. A range that starts within an open extent is assumed to have elements, if that may be.
[[nodiscard]] inline std::int64_t count_between(extent_algebra& algebra, const polynomial& start,
                                                const polynomial& end, std::int64_t step,
                                                std::int64_t extent) {
    constexpr std::int64_t far = std::int64_t{1} << 30U; // beyond any extent: the end
    if (extent >= 0 && start.constant() && end.constant()) {
        const auto range = find_slice_range(*start.constant(), *end.constant(), step, extent);
        return range ? range->count : any_extent;
    }
    if ((start.is_zero() && step == 1 && end.constant().value_or(0) >= far) ||
        (start.constant() == -1 && step == -1 && end.constant().value_or(0) < -far)) {
        return extent;
    }
    if (!algebra.assumes() || step < 1) {
        return any_extent;
    }
    const auto whole = algebra.value(extent);
    const auto place = [&](const polynomial& at, bool starts) {
        const auto number = at.constant();
        if (!number) {
            const bool below =
                !at.terms().empty() && // a negative one counts from the end
                range::all_of(at.terms(), [](const auto& t) { return t.factor < 0; });
            return below ? whole + at : at;
        }
        return *number >= far           ? whole
               : *number <= -far        ? polynomial()
               : starts && *number < -1 ? whole - algebra.least(whole, -*number)
               : *number < 0            ? whole + at
               : !starts && *number > 1 ? algebra.least(whole, *number)
                                        : at;
    };
    const auto count = place(end, false) - place(start, true) + (step - 1);
    return algebra.extent(step == 1 ? count : algebra.divide(count, step));
}

inline void slice(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked()) {
        return node.set_type_like(0, 0);
    }
    const auto starts = node.numbers(1, "starts");
    const auto ends = node.numbers(2, "ends");
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
    for (std::size_t i = 0; i < axes->size(); ++i) {
        if (const auto at = axis_of((*axes)[i], x.rank())) {
            (*sliced.dims)[*at] = exact ? count_between(node.algebra(), (*starts)[i], (*ends)[i],
                                                        steps ? (*steps)[i] : 1, (*x.dims)[*at])
                                        : any_extent;
        }
    }
    const bool listed = x.numbers && (x.rank() == 1 || has_rows(x));
    if (listed && exact && axes->size() == 1 && axis_of(axes->front(), x.rank()) == 0 &&
        starts->front().constant() && ends->front().constant()) {
        const auto range = find_slice_range(*starts->front().constant(), *ends->front().constant(),
                                            steps ? steps->front() : 1, x.dims->front());
        sliced.numbers = range ? take(x, *range) : std::nullopt;
    }
    node.set(0, std::move(sliced));
}

/// What is not padded keeps its extent, whatever that is.
inline void pad(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked()) {
        return node.set_type_like(0, 0);
    }
    const auto pads = node.numbers(1, "pads");
    const auto axes = node.has_input(3) ? node.literal(3) : all_axes(x.rank());
    auto dims = *x.dims;
    if (!pads || !axes || pads->size() != 2 * axes->size()) {
        return node.set(0, x.data_type, extents(x.rank(), any_extent));
    }
    for (std::size_t i = 0; i < axes->size(); ++i) {
        if (const auto at = axis_of((*axes)[i], x.rank())) {
            dims[*at] = node.algebra().extent(node.algebra().value(dims[*at]) + (*pads)[i] +
                                              (*pads)[i + axes->size()]);
        }
    }
    node.set(0, x.data_type, std::move(dims));
}

/// Parts of the given sizes, or equal ones, of which only the last may be smaller.
inline void split(const rule_node& node) {
    const auto& x = node.input(0);
    const auto axis = x.ranked() ? axis_of(node.whole("axis", 0), x.rank()) : std::nullopt;
    if (!axis) {
        return;
    }
    auto& algebra = node.algebra();
    const auto count = static_cast<std::int64_t>(node.output_count());
    const auto sizes = node.numbers(1, "split");
    const auto whole = (*x.dims)[*axis];
    const bool equal = !sizes && !node.has_input(1);
    const bool uneven = whole >= 0 || node.attributes().whole("num_outputs");
    const auto each =
        equal ? algebra.divide(uneven ? algebra.add(whole, count - 1) : whole, count) : any_extent;
    std::int64_t first = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        auto size = each;
        if (sizes && static_cast<std::int64_t>(sizes->size()) == count) {
            size = algebra.extent((*sizes)[static_cast<std::size_t>(i)]);
        } else if (equal && whole >= 0) {
            size = std::clamp<std::int64_t>(whole - first, 0, each);
        } else if (uneven && i + 1 == count) {
            size = algebra.subtract(whole, algebra.multiply(each, count - 1));
        }
        auto part = made(x.data_type, x.dims);
        (*part.dims)[*axis] = size;
        if (x.numbers && x.rank() == 1 && size >= 0 && first >= 0) {
            part.numbers = take(x, {first, size, 1});
        }
        first = size >= 0 && first >= 0 ? add_extents(first, size) : any_extent;
        node.set(static_cast<std::size_t>(i), std::move(part));
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
