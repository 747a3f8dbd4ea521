// SPDX-License-Identifier: Apache-2.0
// <stemma/weights/identify_parameters.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
