// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_MESSAGE_REFS_HPP
#define STEMMA_ONNX_MESSAGE_REFS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <cstdint>

namespace stemma::inline STEMMA_ABI {

/// A message in the file: the content is [begin, begin + size), after tag and length.
struct message_ref {
    std::uint32_t begin = 0; ///< offset from the start of the file
    std::uint32_t size = 0;  ///< size of the content
    id container = no_id;    ///< the enclosing message
};

/// A field of a graph that is neither a node nor a tensor, and declares no value.
struct graph_field {
    detail::wire_field field; ///< its position
    id graph = no_id;         ///< number of the graph
};

/// The message of an initializer, or of the values of a sparse one.
struct tensor_ref {
    message_ref message;       ///< of the values, for a sparse one
    id graph = no_id;          ///< number of the graph it is listed in
    onnx_model::text_ref name; ///< "" if absent
    id value = no_id;          ///< the value it initializes
    bool sparse = false;       ///< stored as a SparseTensorProto
};

/// A ValueInfoProto: input, output or value_info of a graph or function.
struct value_info_ref {
    message_ref message;       ///< its position
    id graph = no_id;          ///< number of the graph it is listed in
    onnx_model::text_ref name; ///< of the value
    id value = no_id;          ///< `no_id` if the graph defines none with this name
    std::uint32_t field = 0;   ///< number of the field in the graph
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_MESSAGE_REFS_HPP
