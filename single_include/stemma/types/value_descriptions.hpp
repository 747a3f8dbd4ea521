// SPDX-License-Identifier: Apache-2.0
// <stemma/types/value_descriptions.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
