// SPDX-License-Identifier: Apache-2.0
// <stemma/report/dot.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
