// SPDX-License-Identifier: Apache-2.0
// <stemma/cut/cut_planner.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
