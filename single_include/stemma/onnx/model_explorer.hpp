// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/model_explorer.hpp> is a part of <stemma/wire.hpp>.
#include "../wire.hpp"
