// SPDX-License-Identifier: Apache-2.0
// <stemma/policy/propagation.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
