// SPDX-License-Identifier: Apache-2.0
// <stemma/cost/model_cost.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
