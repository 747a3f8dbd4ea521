// SPDX-License-Identifier: Apache-2.0
// <stemma/fold/node_shapes.hpp> is a part of <stemma/verbs.hpp>.
#include "../verbs.hpp"
