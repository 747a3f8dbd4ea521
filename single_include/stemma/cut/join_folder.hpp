// SPDX-License-Identifier: Apache-2.0
// <stemma/cut/join_folder.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
