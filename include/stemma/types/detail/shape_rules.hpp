// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_SHAPE_RULES_HPP
#define STEMMA_TYPES_DETAIL_SHAPE_RULES_HPP

#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

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
    node.set(0, int64_type, extents{});
}

inline void constant_of_shape(const rule_node& node) {
    const auto value = node.attributes().tensor("value");
    node.set(0, value ? value->data_type : float_type, fact_table::shape_in(node.input(0)));
}

/// RandomNormal and RandomUniform.
inline void random(const rule_node& node) {
    auto shape = node.attributes().wholes("shape");
    node.set(0, node.whole("dtype", float_type),
             shape ? std::optional(as_extents(*std::move(shape))) : std::nullopt);
}

inline void expand(const rule_node& node) {
    const auto& x = node.input(0);
    node.set(0, x.data_type, broadcast(x.dims, fact_table::shape_in(node.input(1))));
}

inline void range(const rule_node& node) {
    node.set(0, node.input(0).data_type, extents{any_extent});
}

inline void flatten(const rule_node& node) {
    const auto& x = node.input(0);
    extents dims{any_extent, any_extent};
    if (x.ranked()) {
        const auto rank = static_cast<std::int64_t>(x.rank());
        auto axis = node.whole("axis", 1);
        axis += axis < 0 ? rank : 0;
        const auto joined = [&](std::int64_t from, std::int64_t to) {
            std::int64_t product = 1;
            for (; from < to; ++from) {
                const auto extent = (*x.dims)[static_cast<std::size_t>(from)];
                product = product == 1  ? extent
                          : extent == 1 ? product
                                        : multiply_extents(product, extent);
            }
            return product;
        };
        if (axis >= 0 && axis <= rank) {
            dims = {joined(0, axis), joined(axis, rank)};
        }
    }
    node.set(0, x.data_type, std::move(dims));
}

/// Each extent, repeated as often as a constant says.
inline void tile(const rule_node& node) {
    const auto& x = node.input(0);
    if (!x.ranked()) {
        return;
    }
    auto dims = *x.dims;
    const auto repeats = fact_table::shape_in(node.input(1));
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const auto by = repeats && repeats->size() == dims.size() ? (*repeats)[i] : any_extent;
        dims[i] = by == 1 ? dims[i] : multiply_extents(dims[i], by);
    }
    node.set(0, x.data_type, std::move(dims));
}

inline void reshape(const rule_node& node) {
    const auto& x = node.input(0);
    if (!node.has_input(1)) {
        const auto shape = node.attributes().wholes("shape");
        node.set(0, x.data_type,
                 shape ? std::optional(extents(shape->size(), any_extent)) : std::nullopt);
        return;
    }
    const auto exact = node.literal(1);
    auto dims = exact ? as_extents(*exact) : fact_table::shape_in(node.input(1));
    if (dims) {
        const bool keeps_zero = node.is_set("allowzero");
        std::int64_t rest = 1;
        std::size_t open = dims->size();
        bool complete = x.ranked();
        for (std::size_t i = 0; i < dims->size(); ++i) {
            auto& extent = (*dims)[i];
            if (extent == 0 && !keeps_zero) {
                extent = x.ranked() && i < x.rank() ? (*x.dims)[i] : any_extent;
            }
            if (exact && (*exact)[i] == -1) {
                open = i;
            } else if (extent < 0 || __builtin_mul_overflow(rest, extent, &rest)) {
                complete = false;
            }
        }
        std::int64_t all = 1;
        for (std::size_t i = 0; complete && i < x.rank(); ++i) {
            complete = (*x.dims)[i] >= 0 && !__builtin_mul_overflow(all, (*x.dims)[i], &all);
        }
        if (open < dims->size()) {
            (*dims)[open] = complete && rest > 0 ? all / rest : any_extent;
        }
    }
    node.set(0, x.data_type, std::move(dims));
}

} // namespace stemma::inline STEMMA_ABI::detail::rules

#endif // STEMMA_TYPES_DETAIL_SHAPE_RULES_HPP
