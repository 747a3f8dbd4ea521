// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_HPP
#define STEMMA_ONNX_HPP

#include <stemma/proto/attributed_proto.hpp>
#include <stemma/proto/check.hpp>
#include <stemma/proto/infer_types.hpp>
#include <stemma/proto/proto_model.hpp>
#include <stemma/proto/tag_proto.hpp>
#include <stemma/stemma.hpp>
#include <stemma/verbs.hpp>

#endif // STEMMA_ONNX_HPP
