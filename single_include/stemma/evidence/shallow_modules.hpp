// SPDX-License-Identifier: Apache-2.0
// <stemma/evidence/shallow_modules.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
