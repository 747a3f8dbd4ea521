// SPDX-License-Identifier: Apache-2.0
// <stemma/cut/model_cutter.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
