// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_SHAPE_RULES_HPP
#define STEMMA_TYPES_DETAIL_SHAPE_RULES_HPP

#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/polynomial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

/// Rules for constants, shapes, and operators that read shapes.
namespace stemma::inline STEMMA_ABI::detail::rules {

/// Returns: what is known about a Constant with an attribute of that kind (`value`, `value_int`,
/// ...), which `attributes` have under a name.
[[nodiscard]] inline tensor_facts constant_facts(std::string_view kind,
                                                 const node_attributes& attributes,
                                                 std::string_view name, wire_reader attribute) {
    tensor_facts facts;
    if (kind == "value") {
        if (auto tensor = attributes.tensor(name)) {
            facts = made(tensor->data_type, as_extents(tensor->dims));
            fact_table::note_numbers(facts, std::move(*tensor));
        }
    } else if (kind == "value_int") {
        facts = made(int64_type, extents{});
        if (const auto number = attributes.whole(name)) {
            facts.numbers = as_extents({*number});
        }
    } else if (kind == "value_float") {
        facts = made(float_type, extents{});
    } else if (kind == "value_ints") {
        auto numbers = as_extents(*attributes.wholes(name));
        const auto count = static_cast<std::int64_t>(numbers.size());
        facts = {int64_type, extents{count}, std::move(numbers)};
    } else if (kind == "value_floats") {
        facts = made(float_type, extents{any_extent});
    } else if (kind == "sparse_value") {
        for (wire_field part; attribute.next(part);) {
            if (part.is_bytes(onnx_fields::attribute::sparse_tensor)) {
                auto header = read_sparse_header(attribute.inner(part));
                facts = made(header.data_type, as_extents(std::move(header.dims)));
            }
        }
    }
    return facts;
}

inline void constant(const rule_node& node) {
    const auto attributes = node.attributes();
    attributes.for_each([&](std::string_view name, wire_reader attribute) {
        node.set(0, constant_facts(name, attributes, name, attribute));
    });
}

inline void shape(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked()) {
        node.set(0, int64_type, extents{any_extent});
        return;
    }
    const auto rank = static_cast<std::int64_t>(x.rank());
    const auto clamp = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const auto first = clamp(node.whole("start", 0));
    const auto last = std::max(first, clamp(node.whole("end", rank)));
    tensor_facts facts = made(int64_type, extents{last - first});
    facts.numbers = extents(x.dims->begin() + first, x.dims->begin() + last);
    node.set(0, std::move(facts));
}

inline void size(const rule_node& node) {
    auto facts = made(int64_type, extents{});
    if (const auto& x = node.input(0); x.ranked()) {
        facts.numbers = extents{node.algebra().extent(node.algebra().product(*x.dims))};
    }
    node.set(0, std::move(facts));
}

/// The number of tensors in a sequence.
inline void sequence_length(const rule_node& node) {
    node.set(0, int64_type, extents{});
}

inline void constant_of_shape(const rule_node& node) {
    const auto value = node.attributes().tensor("value");
    auto facts = made(value ? value->data_type : float_type, fact_table::shape_in(node.input(0)));
    if (value && value->known && value->values.size() == 1 && facts.ranked() && facts.rank() <= 1) {
        const auto count = facts.rank() == 0 ? 1 : facts.dims->front();
        if (count >= 0 && count <= static_cast<std::int64_t>(max_extents)) {
            facts.numbers =
                as_extents(extents(static_cast<std::size_t>(count), value->values.front()));
        }
    }
    node.set(0, std::move(facts));
}

/// RandomNormal and RandomUniform.
inline void random(const rule_node& node) {
    auto shape = node.attributes().wholes("shape");
    node.set(0, node.whole("dtype", float_type),
             shape ? std::optional(as_extents(*std::move(shape))) : std::nullopt);
}

inline void expand(const rule_node& node) {
    const auto& x = node.input(0);
    auto facts =
        made(x.data_type, node.algebra().broadcast(x.dims, fact_table::shape_in(node.input(1))));
    const auto count = fact_table::length_of(facts);
    if (count && x.numbers && x.numbers->size() == 1) {
        facts.numbers.emplace(*count, x.numbers->front());
    }
    node.set(0, std::move(facts));
}

inline void range(const rule_node& node) {
    const auto first = node.numbers(0);
    const auto last = node.numbers(1);
    const auto step = node.literal(2);
    auto count = any_extent;
    if (first && last && step && first->size() == 1 && last->size() == 1 && step->size() == 1 &&
        step->front() > 0) {
        const auto by = step->front();
        const auto span = last->front() - first->front();
        const auto number = (span + (by - 1)).constant();
        count = number ? std::max<std::int64_t>(*number, 0) / by
                : node.algebra().length(span) == any_extent
                    ? any_extent
                    : node.algebra().extent(node.algebra().divide(span + (by - 1), by));
    }
    node.set(0, node.input(0).data_type, extents{count});
}

inline void flatten(const rule_node& node) {
    const auto& x = node.input(0);
    extents dims{any_extent, any_extent};
    const auto rank = x.ranked() ? static_cast<std::int64_t>(x.rank()) : 0;
    const auto axis = node.whole("axis", 1);
    const auto at = axis < 0 ? axis + rank : axis;
    if (x.ranked() && at >= 0 && at <= rank) {
        auto& algebra = node.algebra();
        const auto middle = x.dims->begin() + at;
        dims = {algebra.extent(algebra.product(extents(x.dims->begin(), middle))),
                algebra.extent(algebra.product(extents(middle, x.dims->end())))};
    }
    node.set(0, x.data_type, std::move(dims));
}

/// Each extent, repeated as often as an input says.
inline void tile(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked()) {
        return;
    }
    auto dims = *x.dims;
    const auto repeats = node.numbers(1);
    for (std::size_t i = 0; i < dims.size(); ++i) {
        dims[i] = repeats && repeats->size() == dims.size()
                      ? node.algebra().extent(node.algebra().value(dims[i]) * (*repeats)[i])
                      : any_extent;
    }
    node.set(0, x.data_type, std::move(dims));
}

inline void reshape(const rule_node& node) {
    const auto& x = node.input(0);
    auto asked = node.numbers(1, "shape");
    if (!asked) {
        return node.set(0, x.data_type, fact_table::shape_in(node.input(1)));
    }
    auto& algebra = node.algebra();
    const bool keeps_zero = node.is_set("allowzero");
    extents dims;
    std::size_t open = 0;
    std::size_t unknown = 0;
    polynomial rest(1);
    for (std::size_t i = 0; i < asked->size(); ++i) {
        auto& wanted = (*asked)[i];
        if (wanted.is_zero() && !keeps_zero) {
            wanted =
                x.ranked() && i < x.rank() ? algebra.value((*x.dims)[i]) : polynomial::unknown();
        }
        dims.push_back(algebra.length(wanted));
        if (dims.back() == any_extent) {
            open = i;
            ++unknown;
        } else {
            rest *= wanted;
        }
    }
    if (unknown == 1 && x.ranked()) {
        const auto all = algebra.product(*x.dims);
        const auto part = all.divided_by(rest);
        dims[open] = part ? algebra.extent(*part)
                     : rest.constant().value_or(0) > 0
                         ? algebra.extent(algebra.divide(all, *rest.constant()))
                         : any_extent;
    }
    const bool same = x.numbers && dims.size() <= 2;
    node.set(0, {x.data_type, std::move(dims), same ? x.numbers : std::nullopt});
}

} // namespace stemma::inline STEMMA_ABI::detail::rules

#endif // STEMMA_TYPES_DETAIL_SHAPE_RULES_HPP
