// SPDX-License-Identifier: Apache-2.0
// <stemma/tagging/name_modules.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
