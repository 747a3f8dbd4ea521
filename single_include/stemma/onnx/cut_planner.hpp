// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/cut_planner.hpp> is a part of <stemma/wire.hpp>.
#include "../wire.hpp"
