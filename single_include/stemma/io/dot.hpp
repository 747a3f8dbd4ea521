// SPDX-License-Identifier: Apache-2.0
// <stemma/io/dot.hpp> is a part of <stemma/wire.hpp>.
#include "../wire.hpp"
