// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_ATTRIBUTE_TEXTS_HPP
#define STEMMA_ONNX_DETAIL_ATTRIBUTE_TEXTS_HPP

#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// The name of an AttributeProto, and the attribute of the enclosing function that it refers to.
struct attribute_names {
    std::string_view name;      ///< of the attribute itself
    std::string_view reference; ///< `ref_attr_name`; "" for none
};

/// Complexity: O(fields).
[[nodiscard]] inline attribute_names read_attribute_names(wire_reader fields) {
    using at = onnx_fields::attribute;
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

/// Erases `field` of an AttributeProto if it is the name.
inline void erase_attribute_name(edited_field& field) {
    if (field.is_bytes(onnx_fields::attribute::name)) {
        field.erase();
    }
}

/// Appends the AttributeProto read by `fields` to a node, under another name but otherwise
/// unchanged. Complexity: O(fields).
inline void append_renamed_attribute(message_tree& node, wire_reader fields,
                                     std::string_view name) {
    node.append(onnx_fields::node::attribute, [&] {
        node.edit(fields, [&](edited_field& field) {
            if (field.is_bytes(onnx_fields::attribute::name)) {
                field.set(name);
            }
        });
    });
}

/// Appends an attribute with the type of the one read by `fields` to a node, referring to attribute
/// `reference` of the enclosing function. Complexity: O(fields).
inline void append_attribute_reference(message_tree& node, wire_reader fields,
                                       std::string_view name, std::string_view reference) {
    using at = onnx_fields::attribute;
    node.append(onnx_fields::node::attribute, [&] {
        node.append(at::name, name);
        node.edit(fields, [](edited_field& field) {
            if (!field.is(at::type, wire_type::varint)) {
                field.erase();
            }
        });
        node.append(at::ref_attr_name, reference);
    });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_ATTRIBUTE_TEXTS_HPP
