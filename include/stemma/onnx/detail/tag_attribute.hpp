// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_TAG_ATTRIBUTE_HPP
#define STEMMA_ONNX_DETAIL_TAG_ATTRIBUTE_HPP

#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: whether an attribute of a node is one that stemma wrote, by name and mark, and no
/// graph. Complexity: O(fields).
[[nodiscard]] inline bool is_tag_attribute(wire_reader fields) {
    bool named = false;
    bool marked = false;
    using at = onnx_fields::attribute;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::name)) {
            const auto name = fields.text(field);
            named = name == source_module_attribute || name == hierarchy_tags_attribute;
        } else if (field.is_bytes(at::doc_string)) {
            marked = fields.text(field) == attribute_mark;
        } else if (field.number == at::g || field.number == at::graphs) {
            return false;
        }
    }
    return named && marked;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_TAG_ATTRIBUTE_HPP
