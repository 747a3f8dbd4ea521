// SPDX-License-Identifier: Apache-2.0
// <stemma/cost/profile_pictures.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
