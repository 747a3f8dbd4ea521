// SPDX-License-Identifier: Apache-2.0
// <stemma/numerics/probe_model.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
