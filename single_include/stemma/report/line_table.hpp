// SPDX-License-Identifier: Apache-2.0
// <stemma/report/line_table.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
