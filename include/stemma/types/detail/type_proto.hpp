// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_TYPE_PROTO_HPP
#define STEMMA_TYPES_DETAIL_TYPE_PROTO_HPP

#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/detail/wire_text.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// One level of a TypeProto: a tensor, or a container of another type.
struct type_proto {
    /// Field numbers of TypeProto.
    enum class kind : std::uint32_t {
        none = 0,
        tensor = 1,
        sequence = 4,
        map = 5,
        sparse = 8,
        optional = 9,
    };

    kind what = kind::none;
    std::int64_t data_type = 0;       // of elements, of a map's keys; 0: unknown
    std::optional<wire_reader> shape; // of a tensor of known rank: TensorShapeProto
    std::optional<wire_reader> inner; // TypeProto of its elements

    [[nodiscard]] bool is_tensor() const noexcept {
        return what == kind::tensor || what == kind::sparse;
    }
    /// Whether element type and rank of a tensor are known, or it is another known type.
    [[nodiscard]] bool is_complete() const noexcept {
        return is_tensor() ? data_type != 0 && shape.has_value() : what != kind::none;
    }
};

/// Reads one level of a TypeProto. If several types are given, the last one counts, as in protobuf.
/// Throws: `error` of `malformed`.
[[nodiscard]] inline type_proto read_type(wire_reader fields) {
    using kind = type_proto::kind;
    type_proto type;
    for (wire_field field; fields.next(field);) {
        if (!field.is_bytes(1) && !field.is_bytes(4) && !field.is_bytes(5) && !field.is_bytes(8) &&
            !field.is_bytes(9)) {
            continue;
        }
        type = {static_cast<kind>(field.number), 0, {}, {}};
        const std::uint32_t held = type.what == kind::map ? 2 : 1;
        auto parts = fields.inner(field);
        for (wire_field part; parts.next(part);) {
            if (part.is(1, wire_type::varint)) { // elem_type, key_type
                type.data_type = static_cast<std::int64_t>(part.value);
            } else if (type.is_tensor() && part.is_bytes(2)) {
                type.shape = parts.inner(part);
            } else if (!type.is_tensor() && part.is_bytes(held)) {
                type.inner = parts.inner(part);
            }
        }
    }
    return type;
}

[[nodiscard]] inline type_proto read_type(std::string_view bytes) {
    return read_type(
        wire_reader(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "type"));
}

/// Calls `f(extent, name)` for the dimensions of a TensorShapeProto: the extent is -1 and the name
/// "" if missing.
template <class Function>
void for_each_extent(wire_reader shape, Function f) {
    for (wire_field dim; shape.next(dim);) {
        if (!dim.is_bytes(1)) {
            continue;
        }
        std::int64_t extent = -1;
        std::string_view name;
        auto parts = shape.inner(dim);
        for (wire_field part; parts.next(part);) {
            if (part.is(1, wire_type::varint)) { // dim_value
                const auto number = static_cast<std::int64_t>(part.value);
                extent = number < 0 ? -1 : number;
                name = {};
            } else if (part.is_bytes(2) && part.size() > 0) { // dim_param
                extent = -1;
                name = parts.text(part);
            }
        }
        f(extent, name);
    }
}

/// Returns: the TypeProto of a tensor; `name_of(extent)` names a negative extent, or is "".
/// Complexity: O(rank).
template <class Extents, class NameOf>
[[nodiscard]] std::string write_tensor_type(std::int64_t data_type, const Extents& dims,
                                            NameOf name_of) {
    std::string shape;
    for (const std::int64_t extent : dims) {
        std::string dim;
        if (extent >= 0) {
            append_number(1, extent, dim);
        } else if (const std::string_view name = name_of(extent); !name.empty()) {
            append_field(2, name, dim);
        }
        append_field(1, dim, shape);
    }
    std::string tensor;
    append_number(1, data_type, tensor);
    append_field(2, shape, tensor);
    std::string type;
    append_field(1, tensor, type);
    return type;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_TYPE_PROTO_HPP
