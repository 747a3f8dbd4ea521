// SPDX-License-Identifier: Apache-2.0
// <stemma/numerics/compare_numerics.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
