// SPDX-License-Identifier: Apache-2.0
// <stemma/algorithm/repropagate.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
