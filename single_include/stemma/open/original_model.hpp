// SPDX-License-Identifier: Apache-2.0
// <stemma/open/original_model.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
