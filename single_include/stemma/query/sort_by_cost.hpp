// SPDX-License-Identifier: Apache-2.0
// <stemma/query/sort_by_cost.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
