// SPDX-License-Identifier: Apache-2.0
// <stemma/evidence/user_frames.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
