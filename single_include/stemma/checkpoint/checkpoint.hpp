// SPDX-License-Identifier: Apache-2.0
// <stemma/checkpoint/checkpoint.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
