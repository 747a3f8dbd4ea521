// SPDX-License-Identifier: Apache-2.0
// <stemma/query/query_facts.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
