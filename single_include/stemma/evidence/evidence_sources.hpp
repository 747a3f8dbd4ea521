// SPDX-License-Identifier: Apache-2.0
// <stemma/evidence/evidence_sources.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
