// SPDX-License-Identifier: Apache-2.0
// <stemma/compare/compare_modules.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
