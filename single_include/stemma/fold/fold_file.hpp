// SPDX-License-Identifier: Apache-2.0
// <stemma/fold/fold_file.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
