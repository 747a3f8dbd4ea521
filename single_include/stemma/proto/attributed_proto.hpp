// SPDX-License-Identifier: Apache-2.0
// <stemma/proto/attributed_proto.hpp> is a part of <stemma/onnx.hpp>.
#include "../onnx.hpp"
