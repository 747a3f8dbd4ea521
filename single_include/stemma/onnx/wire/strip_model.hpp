// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/wire/strip_model.hpp> is a part of <stemma/wire.hpp>.
#include "../../wire.hpp"
