// SPDX-License-Identifier: Apache-2.0
// <stemma/cost/cost_report.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
