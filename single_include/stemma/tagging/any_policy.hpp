// SPDX-License-Identifier: Apache-2.0
// <stemma/tagging/any_policy.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
