// SPDX-License-Identifier: Apache-2.0
// <stemma/cut/model_loads.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
