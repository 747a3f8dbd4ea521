// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PROTO_PROTO_MODEL_HPP
#define STEMMA_PROTO_PROTO_MODEL_HPP

#include <stemma/config.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/proto/detail/message_outline.hpp>

#include <onnx/onnx_pb.h>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// A ModelProto, of whatever namespace and schema.
template <class Proto>
concept model_message = requires(const Proto& model, Proto& editable) {
    model.graph().node(0);
    model.functions(0);
    model.metadata_props();
    editable.mutable_graph();
};

} // namespace detail

/// The structure of a model in protobuf messages: the `wire_model` of the bytes they would be
/// written as, without the data of long tensors, see `message_outline`.
///
/// The message is an `onnx::ModelProto` or the same message of another namespace or a newer schema.
/// Fields that the schema does not know are found among the unknown ones.
class proto_model : private detail::message_outline, public wire_model {
public:
    /// The model may change or end afterwards.
    /// Throws: `error` as `message_outline` and `wire_model`.
    /// Complexity: that of `message_outline`.
    template <detail::model_message Proto = onnx::ModelProto>
    explicit proto_model(const Proto& model)
        : message_outline(model), wire_model(message_outline::bytes()) {}

    using wire_model::bytes;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_PROTO_MODEL_HPP
