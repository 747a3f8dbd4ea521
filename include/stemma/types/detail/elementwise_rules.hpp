// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_ELEMENTWISE_RULES_HPP
#define STEMMA_TYPES_DETAIL_ELEMENTWISE_RULES_HPP

#include <stemma/onnx/tensor_header.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/polynomial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

/// Rules for elementwise operators.
namespace stemma::inline STEMMA_ABI::detail::rules {

/// One output with type and extents of the first input.
inline void like_first(const rule_node& node) {
    node.set_like(0, 0);
}

/// One output with extents of the first input, and the type that an attribute may say.
inline void shaped_like_first(const rule_node& node) {
    const auto& x = node.input(0);
    node.set(0, node.whole("dtype", x.data_type), x.dims);
}

inline void identity(const rule_node& node) {
    node.set(0, node.input(0));
}

/// Computes a number of an output from one of either input, as an extent. `type` is that of the
/// inputs.
using combination = std::int64_t (*)(extent_algebra& algebra, const polynomial& a,
                                     const polynomial& b, std::int64_t type);

inline std::int64_t sum(extent_algebra& algebra, const polynomial& a, const polynomial& b,
                        std::int64_t) {
    return algebra.extent(a + b);
}

inline std::int64_t difference(extent_algebra& algebra, const polynomial& a, const polynomial& b,
                               std::int64_t) {
    return algebra.extent(a - b);
}

inline std::int64_t multiple(extent_algebra& algebra, const polynomial& a, const polynomial& b,
                             std::int64_t) {
    return algebra.extent(a * b);
}

/// Floating-point numbers are not rounded down.
inline std::int64_t quotient(extent_algebra& algebra, const polynomial& a, const polynomial& b,
                             std::int64_t type) {
    if (!is_floating_type(type)) {
        return algebra.divide(algebra.extent(a), algebra.extent(b));
    }
    const auto exact = a.divided_by(b);
    return exact ? algebra.extent(*exact) : any_extent;
}

inline std::int64_t remainder(extent_algebra& algebra, const polynomial& a, const polynomial& b,
                              std::int64_t) {
    const auto by = b.constant().value_or(0);
    return by > 0 ? algebra.extent(a - algebra.divide(a, by) * by) : any_extent;
}

template <bool Greater>
std::int64_t extreme(extent_algebra& algebra, const polynomial& a, const polynomial& b,
                     std::int64_t) {
    const auto x = a.constant();
    const auto y = b.constant();
    return x && y ? algebra.extent(Greater ? std::max(*x, *y) : std::min(*x, *y)) : any_extent;
}

/// An elementwise output of all inputs, with the type of the first one.
template <combination Combine = nullptr>
void arithmetic(const rule_node& node) {
    auto facts = made(node.input(0).data_type, node.broadcast_inputs());
    const bool known = node.input(0).numbers && node.input(1).numbers && node.input_count() == 2;
    if (Combine != nullptr && known && facts.ranked() && facts.rank() < 2) {
        const auto a = node.numbers(0);
        const auto b = node.numbers(1);
        const auto count = std::max(a->size(), b->size());
        if (std::min(a->size(), b->size()) == 1 || a->size() == b->size()) {
            facts.numbers.emplace();
            for (std::size_t i = 0; i < count; ++i) {
                facts.numbers->push_back(Combine(node.algebra(), (*a)[a->size() == 1 ? 0 : i],
                                                 (*b)[b->size() == 1 ? 0 : i], facts.data_type));
            }
        }
    }
    node.set(0, std::move(facts));
}

inline void comparison(const rule_node& node) {
    node.set(0, bool_type, node.broadcast_inputs());
}

inline void element_test(const rule_node& node) {
    node.set(0, bool_type, node.input(0).dims);
}

/// Returns: the numbers with which the condition of a Where compares its third input. Those that
/// are computed and unknown are assumed to be -1, which is no extent.
[[nodiscard]] inline rule_node::numbers_type asked_numbers(const rule_node& node) {
    const auto asks = node.producer(0);
    if (!asks || asks->op_type() != "Equal" || asks->input_count() != 2) {
        return std::nullopt;
    }
    const auto is_input = [&](std::size_t slot) {
        return asks->has_input(slot) &&
               (asks->value_of(slot) == node.value_of(2) ||
                (asks->literal(slot) && asks->literal(slot) == node.literal(2)));
    };
    const bool first = is_input(0);
    if (!first && !is_input(1)) {
        return std::nullopt;
    }
    auto asked = asks->numbers(first ? 1 : 0);
    if (asked && node.algebra().assumes()) {
        std::replace_if(
            asked->begin(), asked->end(), [](const auto& number) { return !number.is_known(); },
            polynomial(-1));
    }
    return asked;
}

/// Returns: the numbers in the third input, with the signs of constants in a Concat, which may be
/// reshaped.
[[nodiscard]] inline rule_node::numbers_type joined_numbers(const rule_node& node) {
    auto all = node.numbers(2);
    auto joins = all ? node.producer(2) : std::nullopt;
    while (joins && is_one_of(joins->op_type(), " Reshape Identity Squeeze Unsqueeze ")) {
        joins = joins->producer(0);
    }
    if (!joins || joins->op_type() != "Concat") {
        return all;
    }
    std::vector<polynomial> joined;
    for (std::size_t part = 0; part < joins->input_count(); ++part) {
        const auto values = joins->numbers(part);
        const auto length = fact_table::length_of(joins->input(part)).value_or(0);
        if (values) {
            joined.insert(joined.end(), values->begin(), values->end());
        } else {
            joined.insert(joined.end(), length, polynomial::unknown());
        }
    }
    return joined.size() == all->size() ? joined : all;
}

/// Returns: a number, or `other` in place of `wanted`, as an extent; extents are not negative.
[[nodiscard]] inline std::int64_t chosen(extent_algebra& algebra, const polynomial& number,
                                         const polynomial& wanted, const polynomial& other) {
    if (number.is_known() && number == wanted) {
        return algebra.extent(other);
    }
    const auto constant = wanted.constant();
    const bool differs =
        constant && (number.constant() || (*constant < 0 && algebra.length(number) != any_extent));
    return differs || number == other ? algebra.extent(number) : any_extent;
}

/// Where also resolves a number that stands for another one, as -1 in shapes for Expand: it selects
/// 1 in place of -1, and the given extent otherwise.
inline void where(const rule_node& node) {
    auto facts = made(node.input(1).data_type, node.broadcast_inputs());
    const bool known = node.input(1).numbers && node.input(2).numbers;
    if (known && facts.ranked() && facts.rank() < 2) {
        const auto a = node.numbers(1);
        const auto b = joined_numbers(node);
        const auto asked = asked_numbers(node);
        if (asked && a->size() == b->size() && (asked->size() == 1 || asked->size() == b->size())) {
            facts.numbers.emplace();
            for (std::size_t i = 0; i < a->size(); ++i) {
                const auto& wanted = (*asked)[asked->size() == 1 ? 0 : i];
                facts.numbers->push_back(chosen(node.algebra(), (*b)[i], wanted, (*a)[i]));
            }
        }
    }
    node.set(0, std::move(facts));
}

/// Numbers stay as far as the type holds them.
inline void cast_to(const rule_node& node, std::int64_t data_type) {
    auto facts = node.input(0);
    facts.data_type = data_type;
    if (facts.numbers) {
        facts.numbers = cast_numbers(std::move(*facts.numbers), data_type);
    }
    node.set(0, std::move(facts));
}

inline void cast(const rule_node& node) {
    cast_to(node, node.whole("to", 0));
}

inline void cast_like(const rule_node& node) {
    cast_to(node, node.input(1).data_type);
}

/// The parts of every text, and their numbers.
inline void words(const rule_node& node) {
    const auto& x = node.input(0);
    if (x.ranked()) {
        auto dims = *x.dims;
        dims.push_back(any_extent);
        node.set(0, x.data_type, std::move(dims));
        node.set(1, int64_type, x.dims);
    }
}

/// One truth value.
inline void flag(const rule_node& node) {
    node.set(0, bool_type, extents{});
}

} // namespace stemma::inline STEMMA_ABI::detail::rules

#endif // STEMMA_TYPES_DETAIL_ELEMENTWISE_RULES_HPP
