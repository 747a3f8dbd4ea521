// SPDX-License-Identifier: Apache-2.0
// <stemma/model/module_tree.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
