// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_GIVEN_CONSTANT_HPP
#define STEMMA_TYPES_DETAIL_GIVEN_CONSTANT_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/attribute_texts.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/shape_rules.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <span>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: what is known about a Constant whose value is an attribute of the function, in the call
/// that is the last of the open ones. Complexity: O(fields of the node and of the calls).
[[nodiscard]] inline tensor_facts given_constant(const wire_model& model, id node,
                                                 std::span<const id> calls) {
    std::string_view kind;
    std::string_view name;
    node_attributes(model, node).for_each([&](std::string_view own, wire_reader attribute) {
        if (const auto names = read_attribute_names(attribute); !names.reference.empty()) {
            kind = own;
            name = names.reference;
        }
    });
    tensor_facts facts;
    for (auto i = calls.size(); i-- > 0 && !name.empty();) {
        const node_attributes given(model, calls[i]);
        std::string_view outer; // the attribute of the function around the call
        given.for_each([&](std::string_view own, wire_reader attribute) {
            if (own == name) {
                outer = read_attribute_names(attribute).reference;
                facts = rules::constant_facts(kind, given, name, attribute);
            }
        });
        name = outer;
    }
    return facts;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_GIVEN_CONSTANT_HPP
