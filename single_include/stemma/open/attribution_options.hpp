// SPDX-License-Identifier: Apache-2.0
// <stemma/open/attribution_options.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
