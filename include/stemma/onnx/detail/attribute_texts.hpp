// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_ATTRIBUTE_TEXTS_HPP
#define STEMMA_ONNX_DETAIL_ATTRIBUTE_TEXTS_HPP

#include <stemma/onnx/detail/byte_rope.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <string>
#include <string_view>

namespace stemma {

/// What an AttributeProto is called, and which attribute of the function around it stands for.
struct attribute_names {
    std::string_view name;      ///< of the attribute itself
    std::string_view reference; ///< `ref_attr_name`; "" for none
};

/// Complexity: O(fields).
[[nodiscard]] inline attribute_names read_attribute_names(wire_reader fields) {
    using at = detail::onnx_fields::attribute;
    attribute_names names;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::name)) {
            names.name = fields.text(field);
        } else if (field.is_bytes(at::ref_attr_name)) {
            names.reference = fields.text(field);
        }
    }
    return names;
}

/// Returns: an AttributeProto of the file with another name, where that stood, and all else as it
/// is. Complexity: O(fields).
[[nodiscard]] inline byte_rope renamed_attribute(wire_reader fields, std::string_view name) {
    byte_rope out;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(detail::onnx_fields::attribute::name)) {
            out.add_field(field.number, name);
        } else {
            out.add_range(field.begin, field.end - field.begin);
        }
    }
    return out;
}

/// Returns: an AttributeProto of the same type as another one that stands for an attribute of the
/// function around. Complexity: O(fields).
[[nodiscard]] inline std::string attribute_reference(wire_reader fields, std::string_view name,
                                                     std::string_view reference) {
    using at = detail::onnx_fields::attribute;
    std::string out;
    detail::append_field(at::name, name, out);
    for (wire_field field; fields.next(field);) {
        if (field.is(at::type, wire_type::varint)) {
            out.append(fields.whole(field));
        }
    }
    detail::append_field(at::ref_attr_name, reference, out);
    return out;
}

} // namespace stemma

#endif // STEMMA_ONNX_DETAIL_ATTRIBUTE_TEXTS_HPP
