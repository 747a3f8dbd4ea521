// SPDX-License-Identifier: Apache-2.0
// <stemma/plan/annotate_layers.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
