// SPDX-License-Identifier: Apache-2.0
// <stemma/policy/any_policy.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
