// SPDX-License-Identifier: Apache-2.0
// <stemma/cut/partition_graph.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
