// SPDX-License-Identifier: Apache-2.0
// <stemma/numerics/isolate_modules.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
