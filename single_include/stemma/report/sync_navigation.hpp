// SPDX-License-Identifier: Apache-2.0
// <stemma/report/sync_navigation.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
