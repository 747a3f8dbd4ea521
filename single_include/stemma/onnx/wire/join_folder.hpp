// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/wire/join_folder.hpp> is a part of <stemma/wire.hpp>.
#include "../../wire.hpp"
