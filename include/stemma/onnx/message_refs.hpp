// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_MESSAGE_REFS_HPP
#define STEMMA_ONNX_MESSAGE_REFS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <cstdint>

namespace stemma::inline STEMMA_ABI {

/// A message inside the file: the content lies in [begin, begin + size), behind tag and length.
struct message_ref {
    std::uint32_t begin = 0; ///< bytes from the start of the file
    std::uint32_t size = 0;  ///< bytes of the content
    id container = no_id;    ///< the message around it
};

/// A field of a graph that is neither a node nor a tensor, and declares no value.
struct graph_field {
    detail::wire_field field; ///< where it stands
    id graph = no_id;         ///< number of the graph
};

/// An initializer's message, or that of the values of a sparse one.
struct tensor_ref {
    message_ref message; ///< of the values, for a sparse one
    id graph = no_id;    ///< number of the graph it is listed in
    text_ref name;       ///< "" where it is not written
    id value = no_id;    ///< the one that it initializes
    bool sparse = false; ///< written as a SparseTensorProto
};

/// A ValueInfoProto: input, output or value_info of a graph or function.
struct value_info_ref {
    message_ref message;     ///< where it stands
    id graph = no_id;        ///< number of the graph it is listed in
    text_ref name;           ///< of the value
    id value = no_id;        ///< `no_id` when the graph defines none of this name
    std::uint32_t field = 0; ///< number of the field in the graph
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_MESSAGE_REFS_HPP
