// SPDX-License-Identifier: Apache-2.0
// <stemma/algorithm/align.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
