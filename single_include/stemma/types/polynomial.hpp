// SPDX-License-Identifier: Apache-2.0
// <stemma/types/polynomial.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
