// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_FOR_EACH_TENSOR_HPP
#define STEMMA_ONNX_DETAIL_FOR_EACH_TENSOR_HPP

#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace stemma::inline STEMMA_ABI::detail {

/// Messages that contain tensors, and tensors.
enum class tensors_in : std::uint8_t {
    nothing,
    model,
    function,
    graph,
    node,
    attribute,
    sparse_tensor,
    tensor, ///< the message is a tensor
};

/// A field of a message that contains tensors.
struct tensor_field {
    tensors_in message;
    std::uint32_t number;
    tensors_in holds;
};

inline constexpr tensor_field tensor_fields[] = {
    {tensors_in::model, onnx_fields::model::graph, tensors_in::graph},
    {tensors_in::model, onnx_fields::model::functions, tensors_in::function},
    {tensors_in::function, onnx_fields::function::node, tensors_in::node},
    {tensors_in::function, onnx_fields::function::attribute_proto, tensors_in::attribute},
    {tensors_in::graph, onnx_fields::graph::node, tensors_in::node},
    {tensors_in::graph, onnx_fields::graph::initializer, tensors_in::tensor},
    {tensors_in::graph, onnx_fields::graph::sparse_initializer, tensors_in::sparse_tensor},
    {tensors_in::node, onnx_fields::node::attribute, tensors_in::attribute},
    {tensors_in::attribute, onnx_fields::attribute::t, tensors_in::tensor},
    {tensors_in::attribute, onnx_fields::attribute::tensors, tensors_in::tensor},
    {tensors_in::attribute, onnx_fields::attribute::g, tensors_in::graph},
    {tensors_in::attribute, onnx_fields::attribute::graphs, tensors_in::graph},
    {tensors_in::attribute, onnx_fields::attribute::sparse_tensor, tensors_in::sparse_tensor},
    {tensors_in::attribute, onnx_fields::attribute::sparse_tensors, tensors_in::sparse_tensor},
    {tensors_in::sparse_tensor, onnx_fields::sparse_tensor::values, tensors_in::tensor},
    {tensors_in::sparse_tensor, onnx_fields::sparse_tensor::indices, tensors_in::tensor},
};

/// `tensor_fields` by message and number.
inline constexpr auto tensors_by_field = [] {
    std::array<std::array<tensors_in, 32>, 8> holds{};
    for (const auto& entry : tensor_fields) {
        holds[static_cast<std::size_t>(entry.message)][entry.number] = entry.holds;
    }
    return holds;
}();

/// Returns: what a length-delimited field `number` of a message contains. Complexity: O(1).
[[nodiscard]] constexpr tensors_in tensors_of_field(tensors_in message,
                                                    std::uint32_t number) noexcept {
    const auto& fields = tensors_by_field[static_cast<std::size_t>(message)];
    return number < fields.size() ? fields[number] : tensors_in::nothing;
}

/// Calls `f(reader)` for every tensor in a message: initializers, and those in attributes, bodies,
/// functions and sparse tensors; `depth` messages are around the message. Throws: `error` of
/// `malformed` for more than 100, where protobuf gives up as well. Complexity: O(fields).
template <class Function>
void for_each_tensor(wire_reader fields, tensors_in message, const Function& f,
                     std::size_t depth = 0) {
    if (depth > 100) {
        fields.fail(fields.position(), "messages nested deeper than protobuf allows");
    }
    if (message == tensors_in::tensor) {
        f(fields);
        return;
    }
    for (wire_field field; fields.next(field);) {
        const auto holds = field.type == wire_type::bytes ? tensors_of_field(message, field.number)
                                                          : tensors_in::nothing;
        if (holds != tensors_in::nothing) {
            for_each_tensor(fields.inner(field), holds, f, depth + 1);
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_FOR_EACH_TENSOR_HPP
