// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_HPP
#define STEMMA_ONNX_HPP

#include <stemma/onnx/proto/attributed_proto.hpp>
#include <stemma/onnx/proto/check.hpp>
#include <stemma/onnx/proto/edit_messages.hpp>
#include <stemma/onnx/proto/infer_types.hpp>
#include <stemma/onnx/proto/message_outline.hpp>
#include <stemma/onnx/proto/metadata_props.hpp>
#include <stemma/onnx/proto/proto_model.hpp>
#include <stemma/onnx/proto/tag_proto.hpp>
#include <stemma/stemma.hpp>
#include <stemma/wire.hpp>

#endif // STEMMA_ONNX_HPP
