// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/wire/fold_file.hpp> is a part of <stemma/wire.hpp>.
#include "../../wire.hpp"
