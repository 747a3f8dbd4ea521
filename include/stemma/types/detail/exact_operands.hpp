// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_EXACT_OPERANDS_HPP
#define STEMMA_TYPES_DETAIL_EXACT_OPERANDS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/polynomial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// How rules of exact inference read operands and note results.
class exact_operands {
protected:
    /// Requires: both outlive this.
    exact_operands(fact_table& table, extent_algebra& algebra) : table_(table), algebra_(algebra) {}

    void set(id node, std::size_t output, std::int64_t type, std::optional<extents> dims) {
        table_.set(node, output, made(type, std::move(dims)));
    }

    [[nodiscard]] const tensor_facts& input(id node, std::size_t slot) const {
        return table_.input(node, slot);
    }

    /// Returns: the numbers in an input: those of a constant with their signs, extents otherwise.
    [[nodiscard]] std::optional<std::vector<polynomial>> numbers(id node, std::size_t slot) const {
        if (!table_.has_input(node, slot)) {
            return std::nullopt;
        }
        std::vector<polynomial> result;
        if (const auto constant = table_.literal(table_.model().inputs(node)[slot])) {
            result.assign(constant->begin(), constant->end());
            return result;
        }
        const auto& inferred = input(node, slot).numbers;
        if (!inferred) {
            return std::nullopt;
        }
        for (auto extent : *inferred) {
            result.push_back(algebra_.value(extent));
        }
        return result;
    }

    /// As above, or of the attribute used by older opsets.
    [[nodiscard]] std::optional<std::vector<polynomial>> numbers(id node, std::size_t slot,
                                                                 std::string_view name) const {
        if (table_.has_input(node, slot)) {
            return numbers(node, slot);
        }
        const auto given = table_.attributes(node).wholes(name);
        return given ? std::optional(std::vector<polynomial>(given->begin(), given->end()))
                     : std::nullopt;
    }

    /// Returns: as above, if all are plain numbers.
    [[nodiscard]] std::optional<extents> constants(id node, std::size_t slot,
                                                   std::string_view name) const {
        const auto given = numbers(node, slot, name);
        extents result;
        for (const auto& number : given.value_or(std::vector<polynomial>())) {
            if (!number.constant()) {
                return std::nullopt;
            }
            result.push_back(*number.constant());
        }
        return given ? std::optional(std::move(result)) : std::nullopt;
    }

    [[nodiscard]] std::optional<extents> broadcast(id node) const {
        auto dims = input(node, 0).dims;
        for (std::size_t slot = 1; slot < table_.shaping_inputs(node); ++slot) {
            dims = algebra_.broadcast(dims, input(node, slot).dims);
        }
        return dims;
    }

    /// Infers a product of the first input and that in `slot`, if both have at least so many axes.
    bool product(id node, std::size_t slot, std::size_t least_rank, std::int64_t type) {
        const auto& a = input(node, 0);
        const auto& b = input(node, slot);
        if (!a.ranked() || !b.ranked() || std::min(a.rank(), b.rank()) < least_rank) {
            return false;
        }
        auto dims = *algebra_.broadcast(extents(a.dims->begin(), a.dims->end() - 2),
                                        extents(b.dims->begin(), b.dims->end() - 2));
        dims.push_back((*a.dims)[a.rank() - 2]);
        dims.push_back(b.dims->back());
        set(node, 0, type, std::move(dims));
        return true;
    }

    fact_table& table_;
    extent_algebra& algebra_;
};

/// Rules of a class by operator. They return false to defer to the general rules.
template <class Rules>
using exact_rules = std::unordered_map<std::string_view, bool (Rules::*)(id)>;

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_EXACT_OPERANDS_HPP
