// SPDX-License-Identifier: Apache-2.0
// <stemma/tagging/propagation.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
