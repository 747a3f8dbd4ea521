// SPDX-License-Identifier: Apache-2.0
// <stemma/cut/cut.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
