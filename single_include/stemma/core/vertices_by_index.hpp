// SPDX-License-Identifier: Apache-2.0
// <stemma/core/vertices_by_index.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
