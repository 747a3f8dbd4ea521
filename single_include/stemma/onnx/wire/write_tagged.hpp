// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/wire/write_tagged.hpp> is a part of <stemma/wire.hpp>.
#include "../../wire.hpp"
