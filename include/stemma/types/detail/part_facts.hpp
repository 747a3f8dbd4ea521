// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_PART_FACTS_HPP
#define STEMMA_TYPES_DETAIL_PART_FACTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/slice_range.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace stemma::detail {

/// Infers what operators make that take parts of a tensor.
class part_facts {
public:
    /// Requires: `table` outlives this.
    explicit part_facts(fact_table& table) : table_(table) {}

    /// Returns: whether the operator is one of them.
    bool infer(id node, std::string_view op) {
        if (op == "Slice") {
            infer_slice(node);
        } else if (op == "Split") {
            infer_split(node);
        } else {
            return false;
        }
        return true;
    }

private:
    void infer_slice(id node) {
        const auto& x = table_.input(node, 0);
        if (!x.ranked()) {
            return;
        }
        const auto starts = table_.numbers_of(node, 1, "starts");
        const auto ends = table_.numbers_of(node, 2, "ends");
        const auto steps = table_.numbers_of(node, 4, "steps");
        auto axes = table_.numbers_of(node, 3, "axes");
        const bool known = starts && ends && starts->size() == ends->size() &&
                           (steps ? steps->size() == starts->size() : !table_.has_input(node, 4)) &&
                           (axes ? axes->size() == starts->size() : !table_.has_input(node, 3));
        if (!axes) {
            const auto count = table_.has_input(node, 3) ? std::nullopt
                               : starts                  ? std::optional(starts->size())
                                        : fact_table::length_of(table_.input(node, 1));
            axes.emplace(std::min(count.value_or(x.rank()), x.rank()));
            std::iota(axes->begin(), axes->end(), 0);
        }
        auto sliced = made(x.data_type, x.dims);
        sliced.numbers = x.rank() == 1 && known && axes->size() == 1 ? x.numbers : std::nullopt;
        for (std::size_t i = 0; i < axes->size(); ++i) {
            const auto at = axis_of((*axes)[i], x.rank());
            if (!at) {
                sliced.numbers.reset();
                continue;
            }
            const auto range = known ? find_slice_range((*starts)[i], (*ends)[i],
                                                        steps ? (*steps)[i] : 1, (*x.dims)[*at])
                                     : std::nullopt;
            (*sliced.dims)[*at] = range ? range->count : any_extent;
            if (sliced.numbers) {
                sliced.numbers = range ? take(*x.numbers, *range) : std::nullopt;
            }
        }
        table_.set(node, 0, std::move(sliced));
    }

    [[nodiscard]] static std::optional<extents> take(const extents& numbers,
                                                     const slice_range& range) {
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

    void infer_split(id node) {
        const auto& x = table_.input(node, 0);
        const auto count = table_.model().output_count(node);
        const auto axis = x.ranked()
                              ? axis_of(table_.attributes(node).whole("axis").value_or(0), x.rank())
                              : std::nullopt;
        const auto sizes = table_.numbers_of(node, 1, "split");
        std::int64_t first = 0;
        for (std::size_t i = 0; axis && i < count; ++i) {
            const auto whole = (*x.dims)[*axis];
            auto size = any_extent;
            if (sizes && sizes->size() == count) {
                size = std::max((*sizes)[i], any_extent);
            } else if (!sizes && !table_.has_input(node, 1) && whole >= 0) {
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
            table_.set(node, i, std::move(part));
        }
    }

    fact_table& table_;
};

} // namespace stemma::detail

#endif // STEMMA_TYPES_DETAIL_PART_FACTS_HPP
