// SPDX-License-Identifier: Apache-2.0
// <stemma/align/align_graphs.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
