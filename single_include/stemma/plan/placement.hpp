// SPDX-License-Identifier: Apache-2.0
// <stemma/plan/placement.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
