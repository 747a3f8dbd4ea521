// SPDX-License-Identifier: Apache-2.0
// <stemma/evidence/rebuild_tree.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
