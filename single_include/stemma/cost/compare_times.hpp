// SPDX-License-Identifier: Apache-2.0
// <stemma/cost/compare_times.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
