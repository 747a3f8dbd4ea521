// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_ATTRIBUTES_HPP
#define STEMMA_FOLD_DETAIL_FOLD_ATTRIBUTES_HPP

#include <stemma/core/id.hpp>
#include <stemma/fold/fold_plan.hpp>
#include <stemma/onnx/detail/attribute_texts.hpp>
#include <stemma/onnx/detail/byte_rope.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <string>

namespace stemma {

/// Writes the attributes of functions, which are the Constants that differ from call to call.
class fold_attributes {
public:
    /// Requires: both outlive it.
    fold_attributes(const wire_model& model, const fold_plan& plan) : model_(model), plan_(plan) {}

    /// Returns: what an attribute of a function is called.
    [[nodiscard]] static std::string name_of(id slot) { return "constant_" + std::to_string(slot); }

    /// Returns: the attribute of a Constant, which refers to one of the function.
    [[nodiscard]] static std::string refer(const wire_reader& attribute, id slot) {
        return attribute_reference(attribute, read_attribute_names(attribute).name, name_of(slot));
    }

    /// Returns: which attribute of the function of a region has the value of a Constant, by the
    /// order in which calls are opened; `no_id` where it does not differ.
    [[nodiscard]] id slot(id region, std::size_t constant) const {
        if (plan_.is_graph(region)) {
            return no_id;
        }
        const auto& slots = plan_.functions[plan_.function[region]].slots;
        return constant < slots.size() ? slots[constant] : no_id;
    }

    /// Appends the attributes of the call of a region: what its Constants are, or attributes of the
    /// function around it, in which `before` of these are opened in front of the call.
    /// Complexity: O(constants + bytes of their attributes).
    void append(id around, id region, std::size_t before, byte_rope& out) const {
        using at_node = detail::onnx_fields::node;
        const auto& slots = plan_.functions[plan_.function[region]].slots;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i] == no_id) {
                continue;
            }
            const auto outer = slot(around, before + i);
            auto fields = model_.reader(model_.message(plan_.constants[region][i]));
            for (wire_field field; fields.next(field);) {
                if (!field.is_bytes(at_node::attribute)) {
                    continue;
                }
                const auto attribute = fields.inner(field);
                if (outer == no_id) {
                    out.add_field(at_node::attribute,
                                  renamed_attribute(attribute, name_of(slots[i])));
                } else {
                    out.add_field(
                        at_node::attribute,
                        attribute_reference(attribute, name_of(slots[i]), name_of(outer)));
                }
            }
        }
    }

private:
    const wire_model& model_;
    const fold_plan& plan_;
};

} // namespace stemma

#endif // STEMMA_FOLD_DETAIL_FOLD_ATTRIBUTES_HPP
