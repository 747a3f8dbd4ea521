// SPDX-License-Identifier: Apache-2.0
// <stemma/capture/captures.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
