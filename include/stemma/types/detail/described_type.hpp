// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_DESCRIBED_TYPE_HPP
#define STEMMA_TYPES_DETAIL_DESCRIBED_TYPE_HPP

#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/tensor_header.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stemma {

/// A type as people read it.
struct described_type {
    /// An extent of a tensor, or what the file calls it; -1 when it says nothing.
    using extent = std::variant<std::int64_t, std::string>;

    std::string name;          ///< `float32`, `sparse(float32)`, `sequence(int64)`, ...
    std::vector<extent> shape; ///< of a tensor
    bool has_shape = false;    ///< whether the rank is known
};

namespace detail {

/// Deep types are no use to anybody, and a hostile file must not exhaust the stack.
inline constexpr int deepest_type = 32;

[[nodiscard]] inline described_type::extent read_extent(wire_reader fields) {
    described_type::extent extent = std::int64_t{-1};
    for (wire_field field; fields.next(field);) {
        if (field.is(1, wire_type::varint)) {
            extent = static_cast<std::int64_t>(field.value);
        } else if (field.is_bytes(2) && field.size() > 0) {
            extent = std::string(fields.text(field));
        }
    }
    return extent;
}

inline void describe_tensor(wire_reader fields, described_type& type) {
    for (wire_field field; fields.next(field);) {
        if (field.is(1, wire_type::varint)) {
            type.name = data_type_name(static_cast<std::int64_t>(field.value));
        } else if (field.is_bytes(2)) {
            type.has_shape = true;
            auto dims = fields.inner(field);
            for (wire_field dim; dims.next(dim);) {
                if (dim.is_bytes(1)) {
                    type.shape.push_back(read_extent(dims.inner(dim)));
                }
            }
        }
    }
}

[[nodiscard]] inline described_type describe_type(wire_reader fields, int depth) {
    // TypeProto: tensor_type 1, sequence_type 4 (elem_type 1), map_type 5 (key_type 1,
    // value_type 2), sparse_tensor_type 8, optional_type 9 (elem_type 1).
    described_type type;
    const auto inner_name = [&](wire_reader parts, std::uint32_t number) {
        std::string name = "?";
        for (wire_field part; parts.next(part);) {
            if (part.is_bytes(number) && depth < deepest_type) {
                name = describe_type(parts.inner(part), depth + 1).name;
            }
        }
        return name;
    };
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(1)) {
            describe_tensor(fields.inner(field), type);
        } else if (field.is_bytes(8)) {
            describe_tensor(fields.inner(field), type);
            type.name = "sparse(" + type.name + ")";
        } else if (field.is_bytes(4)) {
            type.name = "sequence(" + inner_name(fields.inner(field), 1) + ")";
        } else if (field.is_bytes(9)) {
            type.name = "optional(" + inner_name(fields.inner(field), 1) + ")";
        } else if (field.is_bytes(5)) {
            auto parts = fields.inner(field);
            std::string key = "?";
            for (wire_field part; parts.next(part);) {
                if (part.is(1, wire_type::varint)) {
                    key = data_type_name(static_cast<std::int64_t>(part.value));
                }
            }
            type.name = "map(" + key + "," + inner_name(fields.inner(field), 2) + ")";
        }
    }
    return type;
}

} // namespace detail

/// Reads the bytes of a TypeProto.
/// Returns: what it says; a name of "" when it says nothing.
/// Throws: `error` of `malformed`. Complexity: O(bytes).
[[nodiscard]] inline described_type describe_type(std::string_view type) {
    return detail::describe_type(
        wire_reader(type.data(), 0, static_cast<std::uint32_t>(type.size()), "type"), 0);
}

/// Returns: `float32[1,8,hidden,?]`; without the brackets when the rank is not known.
/// Complexity: O(rank).
[[nodiscard]] inline std::string to_text(const described_type& type) {
    std::string text = type.name;
    if (!type.has_shape) {
        return text;
    }
    text.push_back('[');
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
        text.append(i == 0 ? "" : ",");
        if (const auto* number = std::get_if<std::int64_t>(&type.shape[i])) {
            text.append(*number < 0 ? "?" : std::to_string(*number));
        } else {
            text.append(std::get<std::string>(type.shape[i]));
        }
    }
    text.push_back(']');
    return text;
}

} // namespace stemma

#endif // STEMMA_TYPES_DETAIL_DESCRIBED_TYPE_HPP
