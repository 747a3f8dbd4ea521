// SPDX-License-Identifier: Apache-2.0
// <stemma/model/sweeps.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
