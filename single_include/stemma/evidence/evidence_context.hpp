// SPDX-License-Identifier: Apache-2.0
// <stemma/evidence/evidence_context.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
