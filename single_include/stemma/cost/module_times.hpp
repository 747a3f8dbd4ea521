// SPDX-License-Identifier: Apache-2.0
// <stemma/cost/module_times.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
