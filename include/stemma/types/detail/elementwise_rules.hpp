// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_ELEMENTWISE_RULES_HPP
#define STEMMA_TYPES_DETAIL_ELEMENTWISE_RULES_HPP

#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

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

[[nodiscard]] inline std::int64_t no_extent(std::int64_t, std::int64_t) {
    return any_extent;
}

/// An elementwise output of all inputs, with the type of the first one. `combine(a, b)` computes an
/// output extent from two input extents.
template <std::int64_t (*combine)(std::int64_t, std::int64_t) = no_extent>
void arithmetic(const rule_node& node) {
    const auto& a = node.input(0).numbers;
    const auto& b = node.input(1).numbers;
    std::optional<extents> numbers;
    if (a && b && a->size() == b->size() && node.input_count() == 2) {
        numbers.emplace();
        for (std::size_t i = 0; i < a->size(); ++i) {
            numbers->push_back(combine((*a)[i], (*b)[i]));
        }
    }
    node.set(0, {node.input(0).data_type, node.broadcast_inputs(), std::move(numbers)});
}

inline void comparison(const rule_node& node) {
    node.set(0, bool_type, node.broadcast_inputs());
}

inline void element_test(const rule_node& node) {
    node.set(0, bool_type, node.input(0).dims);
}

inline void where(const rule_node& node) {
    node.set(0, node.input(1).data_type, node.broadcast_inputs());
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
