// SPDX-License-Identifier: Apache-2.0
// <stemma/compare/write_diff.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
