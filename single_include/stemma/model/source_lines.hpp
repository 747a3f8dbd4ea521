// SPDX-License-Identifier: Apache-2.0
// <stemma/model/source_lines.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
