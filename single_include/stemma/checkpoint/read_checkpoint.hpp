// SPDX-License-Identifier: Apache-2.0
// <stemma/checkpoint/read_checkpoint.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
