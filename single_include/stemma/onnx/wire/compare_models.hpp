// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/wire/compare_models.hpp> is a part of <stemma/wire.hpp>.
#include "../../wire.hpp"
