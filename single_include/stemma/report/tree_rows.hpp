// SPDX-License-Identifier: Apache-2.0
// <stemma/report/tree_rows.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
