// SPDX-License-Identifier: Apache-2.0
// <stemma/model/module_view.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
