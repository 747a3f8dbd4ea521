// SPDX-License-Identifier: Apache-2.0
// <stemma/core/topological_order.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
