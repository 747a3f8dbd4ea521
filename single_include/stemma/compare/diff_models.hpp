// SPDX-License-Identifier: Apache-2.0
// <stemma/compare/diff_models.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
