// SPDX-License-Identifier: Apache-2.0
// <stemma/align/fused_operators.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
