// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_VALUE_DESCRIPTIONS_HPP
#define STEMMA_TYPES_VALUE_DESCRIPTIONS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/infer_shapes.hpp>
#include <stemma/types/value_description.hpp>
#include <stemma/types/value_types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stemma {

namespace detail {

[[nodiscard]] inline std::string element_name(std::uint64_t data_type) {
    const auto name = data_type_name(static_cast<std::int64_t>(data_type));
    return name.empty() ? "type " + std::to_string(data_type) : std::string(name);
}

/// Returns: `[1,seq,?]` of a TensorShapeProto.
[[nodiscard]] inline std::string describe_shape(wire_reader fields) {
    std::string shape = "[";
    for (wire_field field; fields.next(field);) {
        if (!field.is_bytes(1)) {
            continue;
        }
        std::string extent;
        auto parts = fields.inner(field);
        for (wire_field part; parts.next(part);) {
            if (part.is(1, wire_type::varint)) { // dim_value; a negative one says nothing
                extent =
                    static_cast<std::int64_t>(part.value) < 0 ? "" : std::to_string(part.value);
            } else if (part.is_bytes(2)) { // dim_param
                extent = parts.text(part);
            }
        }
        shape.append(shape.size() == 1 ? "" : ",").append(extent.empty() ? "?" : extent);
    }
    return shape.append("]");
}

inline void describe_value_type(wire_reader fields, value_description& out, unsigned depth) {
    constexpr unsigned deepest = 16;
    const auto nested = [&](wire_reader& around, const wire_field& field) {
        value_description inner;
        if (depth < deepest) {
            describe_value_type(around.inner(field), inner, depth + 1);
        }
        return inner.type_and_shape();
    };
    // TypeProto: tensor_type 1, sequence 4, map 5, sparse 8, optional 9.
    for (wire_field field; fields.next(field);) {
        const bool tensor = field.is_bytes(1) || field.is_bytes(8);
        if (!tensor && !field.is_bytes(4) && !field.is_bytes(5) && !field.is_bytes(9)) {
            continue;
        }
        auto parts = fields.inner(field);
        std::string key;
        std::string element;
        for (wire_field part; parts.next(part);) {
            if (tensor && part.is(1, wire_type::varint)) {
                out.type = element_name(part.value);
            } else if (tensor && part.is_bytes(2)) {
                out.shape = describe_shape(parts.inner(part));
            } else if (field.is_bytes(5) && part.is(1, wire_type::varint)) {
                key = element_name(part.value) + ",";
            } else if (!tensor && part.is_bytes(field.is_bytes(5) ? 2 : 1)) {
                element = nested(parts, part);
            }
        }
        if (field.is_bytes(8)) {
            out.type = "sparse(" + out.type + ")";
        } else if (!tensor) {
            const std::string_view kind = field.is_bytes(4)   ? "sequence("
                                          : field.is_bytes(5) ? "map("
                                                              : "optional(";
            out.type = std::string(kind).append(key).append(element).append(")");
        }
    }
}

} // namespace detail

/// Returns: what the bytes of a TypeProto say, without a name. Complexity: O(length).
[[nodiscard]] inline value_description describe_value_type(std::string_view type) {
    value_description described;
    detail::describe_value_type(
        wire_reader(type.data(), 0, static_cast<std::uint32_t>(type.size()), "type"), described, 0);
    return described;
}

/// Names, types and shapes of the values of a model: as declared, as initializers have them, or as
/// far as they follow from those.
class value_descriptions {
public:
    /// Requires: the model outlives this. Complexity: O(nodes + values).
    explicit value_descriptions(const wire_model& model)
        : model_(&model), types_(model), tensor_of_(model.value_count(), no_id) {
        infer_shapes(model, types_);
        const auto tensors = model.tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            if (tensors[i].value != no_id) {
                tensor_of_[tensors[i].value] = i;
            }
        }
    }

    /// Returns: name, type and shape of a value. Complexity: O(length of what its messages say).
    [[nodiscard]] value_description operator()(id value) const {
        value_description described;
        if (tensor_of_[value] != no_id) {
            const auto header = read_tensor_header(*model_, model_->tensors()[tensor_of_[value]]);
            described.type = detail::element_name(static_cast<std::uint64_t>(header.data_type));
            described.shape = "[";
            for (auto extent : header.dims) {
                described.shape.append(described.shape.size() == 1 ? "" : ",")
                    .append(std::to_string(extent));
            }
            described.shape.append("]");
        } else if (const auto type = types_.type_of(value)) {
            described = describe_value_type(*type);
        }
        described.name = model_->value_name(value);
        return described;
    }

private:
    const wire_model* model_;
    mutable value_types types_; // sorts what was added when it is first asked
    std::vector<id> tensor_of_; // by value: place among the tensors
};

} // namespace stemma

#endif // STEMMA_TYPES_VALUE_DESCRIPTIONS_HPP
