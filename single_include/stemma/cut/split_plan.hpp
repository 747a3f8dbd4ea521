// SPDX-License-Identifier: Apache-2.0
// <stemma/cut/split_plan.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
