// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_HPP
#define STEMMA_ONNX_HPP

#include <stemma/proto/attributed_proto.hpp>
#include <stemma/proto/check.hpp>
#include <stemma/proto/detail/edit_messages.hpp>
#include <stemma/proto/detail/message_outline.hpp>
#include <stemma/proto/detail/metadata_props.hpp>
#include <stemma/proto/infer_types.hpp>
#include <stemma/proto/proto_model.hpp>
#include <stemma/proto/tag_proto.hpp>
#include <stemma/stemma.hpp>
#include <stemma/verbs.hpp>

#endif // STEMMA_ONNX_HPP
