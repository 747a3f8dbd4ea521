// SPDX-License-Identifier: Apache-2.0
// <stemma/report/source_text.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
