// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/plan_fold.hpp> is a part of <stemma/wire.hpp>.
#include "../wire.hpp"
