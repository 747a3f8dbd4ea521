// SPDX-License-Identifier: Apache-2.0
// <stemma/cut/find_non_convex.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
