// SPDX-License-Identifier: Apache-2.0
// <stemma/core/category.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
