// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_CALL_ATTRIBUTES_HPP
#define STEMMA_FOLD_DETAIL_CALL_ATTRIBUTES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/attribute_texts.hpp>
#include <stemma/onnx/detail/byte_rope.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace stemma {

/// The attributes that a call gives to a function, as the file has them.
class call_attributes {
public:
    /// Reads those of a node. Where one refers to an attribute of the function around the call, it
    /// is that one of `around`. Returns: whether all those are there.
    /// Complexity: O(fields).
    bool read(const wire_model& model, id call, const call_attributes* around) {
        auto fields = model.reader(model.message(call));
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(detail::onnx_fields::node::attribute)) {
                continue;
            }
            const auto names = read_attribute_names(fields.inner(field));
            if (around == nullptr || names.reference.empty()) {
                by_name_.emplace(names.name, field);
                continue;
            }
            const auto outer = around->by_name_.find(names.reference);
            if (outer == around->by_name_.end()) {
                return false;
            }
            by_name_.emplace(names.name, outer->second);
        }
        return true;
    }

    /// Returns: what stood where an attribute in the body refers to one of the call; nothing for
    /// other fields of a node. Requires: `model` is the one that was read.
    [[nodiscard]] std::optional<byte_rope> given(const wire_model& model, const wire_reader& fields,
                                                 const wire_field& field) const {
        if (by_name_.empty() || !field.is_bytes(detail::onnx_fields::node::attribute)) {
            return std::nullopt;
        }
        const auto names = read_attribute_names(fields.inner(field));
        const auto found = by_name_.find(names.reference);
        if (names.reference.empty() || found == by_name_.end()) {
            return std::nullopt;
        }
        const auto file = model.reader();
        return renamed_attribute(file.inner(found->second), names.name);
    }

private:
    std::map<std::string_view, wire_field> by_name_;
};

} // namespace stemma

#endif // STEMMA_FOLD_DETAIL_CALL_ATTRIBUTES_HPP
