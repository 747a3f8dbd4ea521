// SPDX-License-Identifier: Apache-2.0
// <stemma/model/module_tree_builder.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
