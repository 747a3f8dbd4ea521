// SPDX-License-Identifier: Apache-2.0
// <stemma/cut/plan_cuts.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
