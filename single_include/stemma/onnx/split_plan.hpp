// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/split_plan.hpp> is a part of <stemma/wire.hpp>.
#include "../wire.hpp"
