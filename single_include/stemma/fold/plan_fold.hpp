// SPDX-License-Identifier: Apache-2.0
// <stemma/fold/plan_fold.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
