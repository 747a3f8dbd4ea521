// SPDX-License-Identifier: Apache-2.0
// <stemma/query/alike_modules.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
