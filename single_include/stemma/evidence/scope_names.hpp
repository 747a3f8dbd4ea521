// SPDX-License-Identifier: Apache-2.0
// <stemma/evidence/scope_names.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
