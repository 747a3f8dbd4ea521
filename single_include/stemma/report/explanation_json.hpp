// SPDX-License-Identifier: Apache-2.0
// <stemma/report/explanation_json.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
