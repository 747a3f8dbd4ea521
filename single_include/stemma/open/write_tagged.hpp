// SPDX-License-Identifier: Apache-2.0
// <stemma/open/write_tagged.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
