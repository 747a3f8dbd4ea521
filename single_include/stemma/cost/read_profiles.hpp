// SPDX-License-Identifier: Apache-2.0
// <stemma/cost/read_profiles.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
