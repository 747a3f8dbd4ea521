// SPDX-License-Identifier: Apache-2.0
// <stemma/algorithm/find_matches.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
