// SPDX-License-Identifier: Apache-2.0
// <stemma/align/rewritten_operators.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
