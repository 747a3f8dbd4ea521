// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_ATTRIBUTE_VALUES_HPP
#define STEMMA_ONNX_DETAIL_ATTRIBUTE_VALUES_HPP

#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What an attribute says.
struct attribute_value {
    std::string_view name{};               ///< its name
    std::string text{};                    ///< its value, but for tensors and bodies
    std::vector<tensor_content> tensors{}; ///< valid as long as their reader
};

/// Returns: name and value of an attribute, independent of documentation, of how numbers are packed
/// and of how a tensor is named and stored. Requires: it is of the model that `tensors` reads.
/// Complexity: O(fields), and O(data) of tensors stored in typed fields.
[[nodiscard]] inline attribute_value read_attribute_value(wire_reader fields,
                                                          tensor_content_reader& tensors) {
    using at = onnx_fields::attribute;
    attribute_value value;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::name)) {
            value.name = fields.text(field);
        } else if (field.is_bytes(at::t)) {
            value.tensors.push_back(tensors.read(field));
        } else if (field.number == at::floats &&
                   (field.type == wire_type::fixed32 || field.type == wire_type::bytes)) {
            const auto packed = fields.text(field);
            for (std::size_t i = 0; i + sizeof(float) <= packed.size(); i += sizeof(float)) {
                value.text.append("7,").append(packed.substr(i, sizeof(float)));
            }
        } else if (field.number == at::ints &&
                   (field.type == wire_type::varint || field.type == wire_type::bytes)) {
            std::vector<std::int64_t> numbers;
            read_dims(fields, field, numbers);
            for (const auto number : numbers) {
                value.text.append("8,").append(std::to_string(number));
            }
        } else if (field.number != at::doc_string && field.number != at::type &&
                   field.number != at::g && field.number != at::graphs) {
            value.text.append(fields.whole(field));
        }
    }
    return value;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_ATTRIBUTE_VALUES_HPP
