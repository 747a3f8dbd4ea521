// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/proto/attributed_proto.hpp> is a part of <stemma/onnx.hpp>.
#include "../../onnx.hpp"
