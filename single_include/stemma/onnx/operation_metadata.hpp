// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/operation_metadata.hpp> is a part of <stemma/wire.hpp>.
#include "../wire.hpp"
