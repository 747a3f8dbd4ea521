// SPDX-License-Identifier: Apache-2.0
// <stemma/compare/link_nodes.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
