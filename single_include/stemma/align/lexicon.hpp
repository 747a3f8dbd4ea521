// SPDX-License-Identifier: Apache-2.0
// <stemma/align/lexicon.hpp> is a part of <stemma/core.hpp>.
#include "../core.hpp"
