// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_EXACT_MOVES_HPP
#define STEMMA_TYPES_DETAIL_EXACT_MOVES_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/types/detail/exact_operands.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/movement_rules.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/detail/window_rules.hpp>
#include <stemma/types/polynomial.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Infers extents of slices, resizes, and gathers.
class exact_moves : exact_operands {
public:
    /// Requires: both outlive this.
    exact_moves(fact_table& table, extent_algebra& algebra) : exact_operands(table, algebra) {}

    /// Returns: whether the operator is one of them, and was inferred.
    bool infer(id node, std::string_view op) {
        static const exact_rules<exact_moves> rules{
            {"Slice", &exact_moves::slice},         {"Transpose", &exact_moves::transpose},
            {"Split", &exact_moves::split},         {"Pad", &exact_moves::pad},
            {"Resize", &exact_moves::resize},       {"Upsample", &exact_moves::resize},
            {"DepthToSpace", &exact_moves::blocks}, {"SpaceToDepth", &exact_moves::blocks},
            {"GatherND", &exact_moves::gather_nd},  {"TopK", &exact_moves::top},
            {"OneHot", &exact_moves::one_hot},
        };
        const auto rule = rules.find(op);
        return rule != rules.end() && (this->*rule->second)(node);
    }

private:
    /// Returns: the number of elements between two positions, negative ones counted from the end. A
    /// range that starts within an open extent is assumed to have elements.
    [[nodiscard]] std::int64_t between(const polynomial& start, const polynomial& end,
                                       std::int64_t step, std::int64_t extent) {
        if (extent >= 0 && start.constant() && end.constant()) {
            const auto range =
                rules::find_slice_range(*start.constant(), *end.constant(), step, extent);
            return range ? range->count : any_extent;
        }
        const auto whole = algebra_.value(extent);
        const auto place = [&](const polynomial& at, bool starts) {
            const auto number = at.constant();
            // A position far beyond any extent means the end.
            constexpr std::int64_t far = std::int64_t{1} << 30U;
            if (!number) {
                const auto terms = at.terms(); // a negative one counts from the end
                const bool below =
                    !terms.empty() &&
                    detail::range::all_of(terms, [](const auto& t) { return t.factor < 0; });
                return below ? whole + at : at;
            }
            return *number >= far           ? whole
                   : *number <= -far        ? polynomial()
                   : starts && *number < -1 ? whole - algebra_.least(whole, -*number)
                   : *number < 0            ? whole + at
                   : !starts && *number > 1 ? algebra_.least(whole, *number)
                                            : at;
        };
        if (step < 1) {
            return start.constant() == -1 && step == -1 && end.constant().value_or(0) < -(1 << 30U)
                       ? extent
                       : any_extent;
        }
        const auto count = place(end, false) - place(start, true) + (step - 1);
        return algebra_.extent(step == 1 ? count : algebra_.divide(count, step));
    }

    /// Only what the general rule leaves open: known numbers in rows. Exporters compute the amounts
    /// of a Pad that way.
    bool transpose(id node) {
        const auto& x = input(node, 0);
        const auto order = table_.attributes(node).wholes("perm").value_or(extents{1, 0});
        if (!has_rows(x) || order != extents{1, 0}) {
            return false;
        }
        const auto length = static_cast<std::size_t>(x.dims->back());
        extents turned;
        for (std::size_t i = 0; i < x.numbers->size(); ++i) {
            const auto rows = x.numbers->size() / length;
            turned.push_back((*x.numbers)[i % rows * length + i / rows]);
        }
        table_.set(node, 0, {x.data_type, extents{x.dims->back(), x.dims->front()}, turned});
        return true;
    }

    [[nodiscard]] static bool has_rows(const tensor_facts& x) {
        return x.numbers && x.ranked() && x.rank() == 2 && x.dims->back() > 0 &&
               multiply_extents(x.dims->front(), x.dims->back()) ==
                   static_cast<std::int64_t>(x.numbers->size());
    }

    /// Returns: the numbers in a part of the rows.
    [[nodiscard]] static extents rows(const tensor_facts& x, const rules::slice_range& range) {
        extents taken;
        for (std::int64_t i = 0; i < range.count; ++i) {
            const auto first = x.numbers->begin() + (range.first + i * range.step) * x.dims->back();
            taken.insert(taken.end(), first, first + x.dims->back());
        }
        return taken;
    }

    /// One-dimensional numbers are left to the general rule.
    bool slice(id node) {
        const auto& x = input(node, 0);
        const auto starts = numbers(node, 1, "starts");
        const auto ends = numbers(node, 2, "ends");
        const auto steps = constants(node, 4, "steps");
        auto axes = constants(node, 3, "axes");
        if (!x.ranked() || (x.numbers && !has_rows(x)) || !starts || !ends ||
            starts->size() != ends->size() || (!steps && table_.has_input(node, 4)) ||
            (!axes && table_.has_input(node, 3)) || (steps && steps->size() != starts->size())) {
            return false;
        }
        if (!axes) {
            axes = all_axes(starts->size());
        }
        auto dims = *x.dims;
        for (std::size_t i = 0; i < axes->size() && i < starts->size(); ++i) {
            const auto at = axis_of((*axes)[i], x.rank());
            if (!at) {
                return false;
            }
            dims[*at] = between((*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1, dims[*at]);
        }
        auto facts = made(x.data_type, std::move(dims));
        if (has_rows(x) && axes->size() == 1 && axis_of(axes->front(), 2) == 0 &&
            starts->size() == 1 && starts->front().constant() && ends->front().constant()) {
            const auto range =
                rules::find_slice_range(*starts->front().constant(), *ends->front().constant(),
                                        steps ? steps->front() : 1, x.dims->front());
            facts.numbers = range ? std::optional(rows(x, *range)) : std::nullopt;
        }
        table_.set(node, 0, std::move(facts));
        return true;
    }

    /// Only the case left open by the general rule: equal parts of a named extent.
    bool split(id node) {
        const auto& x = input(node, 0);
        const auto axis = x.ranked()
                              ? axis_of(table_.attributes(node).whole("axis").value_or(0), x.rank())
                              : std::nullopt;
        if (!axis || (*x.dims)[*axis] >= any_extent || table_.has_input(node, 1) ||
            table_.attributes(node).wholes("split")) {
            return false;
        }
        auto dims = *x.dims;
        const auto whole = dims[*axis];
        const auto count = table_.model().output_count(node);
        // With `num_outputs`, the last part may be smaller.
        const bool uneven = table_.attributes(node).whole("num_outputs").has_value();
        const auto size = algebra_.divide(uneven ? algebra_.add(whole, count - 1) : whole, count);
        for (id i = 0; i < count; ++i) {
            const bool is_last = i + 1 == count;
            dims[*axis] = uneven && is_last
                              ? algebra_.subtract(whole, algebra_.multiply(size, count - 1))
                              : size;
            set(node, i, x.data_type, dims);
        }
        return true;
    }

    bool pad(id node) {
        const auto& x = input(node, 0);
        const auto pads = numbers(node, 1, "pads");
        auto axes = constants(node, 3, "");
        if (!x.ranked() || !pads || (!axes && table_.has_input(node, 3))) {
            return false;
        }
        if (!axes) {
            axes = all_axes(x.rank());
        }
        if (pads->size() != 2 * axes->size()) {
            return false;
        }
        auto dims = *x.dims;
        for (std::size_t i = 0; i < axes->size(); ++i) {
            if (const auto at = axis_of((*axes)[i], x.rank())) {
                dims[*at] = algebra_.extent(algebra_.value(dims[*at]) + (*pads)[i] +
                                            (*pads)[i + axes->size()]);
            }
        }
        set(node, 0, x.data_type, std::move(dims));
        return true;
    }

    bool resize(id node) {
        const auto& x = input(node, 0);
        const auto sizes = numbers(node, 3).value_or(std::vector<polynomial>());
        auto dims = x.ranked()
                        ? rules::resized(
                              rule_node(table_, node), *x.dims, sizes.size(),
                              [&](std::size_t i) { return algebra_.extent(sizes[i]); },
                              [&](std::int64_t extent, float by) { return scaled(extent, by); })
                        : std::nullopt;
        if (!dims) {
            return false;
        }
        set(node, 0, x.data_type, std::move(dims));
        return true;
    }

    [[nodiscard]] std::int64_t scaled(std::int64_t extent, float by) {
        if (!(by > 0) || by > 1e6F) {
            return any_extent;
        }
        if (extent >= 0) {
            return rules::scale_extent(extent, by);
        }
        const auto parts = 1 / by;
        return by == std::floor(by)         ? algebra_.multiply(extent, std::llround(by))
               : parts == std::floor(parts) ? algebra_.divide(extent, std::llround(parts))
                                            : any_extent;
    }

    bool blocks(id node) {
        const auto& x = input(node, 0);
        const auto size = table_.attributes(node).whole("blocksize").value_or(0);
        if (!x.ranked() || x.rank() != 4 || size < 1 || size > (1 << 20U)) {
            return false;
        }
        auto dims = *x.dims;
        const bool opens = table_.model().op_type(node) == "DepthToSpace";
        const auto change = [&](std::int64_t& extent, bool grows, std::int64_t by) {
            extent = grows ? algebra_.multiply(extent, by) : algebra_.divide(extent, by);
        };
        change(dims[1], !opens, size * size);
        change(dims[2], opens, size);
        change(dims[3], opens, size);
        set(node, 0, x.data_type, std::move(dims));
        return true;
    }

    bool gather_nd(id node) {
        const auto& x = input(node, 0);
        const auto& indices = input(node, 1);
        if (!x.ranked() || !indices.ranked() || indices.rank() == 0 || indices.dims->back() < 0) {
            return false;
        }
        const auto taken =
            indices.dims->back() + table_.attributes(node).whole("batch_dims").value_or(0);
        if (taken < 0 || taken > static_cast<std::int64_t>(x.rank())) {
            return false;
        }
        extents dims(indices.dims->begin(), indices.dims->end() - 1);
        dims.insert(dims.end(), x.dims->begin() + taken, x.dims->end());
        set(node, 0, x.data_type, std::move(dims));
        return true;
    }

    bool top(id node) {
        const auto& x = input(node, 0);
        const auto attributes = table_.attributes(node);
        const auto count = numbers(node, 1);
        const auto axis =
            x.ranked() ? axis_of(attributes.whole("axis").value_or(-1), x.rank()) : std::nullopt;
        if (!axis) {
            return false;
        }
        auto dims = *x.dims;
        dims[*axis] = count && count->size() == 1
                          ? algebra_.extent(count->front())
                          : std::max(any_extent, attributes.whole("k").value_or(any_extent));
        set(node, 0, x.data_type, dims);
        set(node, 1, int64_type, std::move(dims));
        return true;
    }

    bool one_hot(id node) {
        const auto& x = input(node, 0);
        const auto depth = numbers(node, 1);
        if (!x.ranked() || x.rank() >= max_extents) {
            return false;
        }
        auto dims = *x.dims;
        const auto axis = axis_of(table_.attributes(node).whole("axis").value_or(-1), x.rank() + 1);
        dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis.value_or(x.rank())),
                    depth && depth->size() == 1 ? algebra_.extent(depth->front()) : any_extent);
        set(node, 0, input(node, 2).data_type, std::move(dims));
        return axis.has_value();
    }
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_EXACT_MOVES_HPP
