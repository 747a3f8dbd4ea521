// SPDX-License-Identifier: Apache-2.0
// <stemma/onnx/carrier.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
