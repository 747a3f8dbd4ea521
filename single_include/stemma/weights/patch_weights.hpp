// SPDX-License-Identifier: Apache-2.0
// <stemma/weights/patch_weights.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
