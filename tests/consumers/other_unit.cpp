// SPDX-License-Identifier: Apache-2.0
// A second translation unit with the whole of the library: nothing may be defined twice.
#include "other_unit.hpp"

#include <stemma/core.hpp>

std::string other_unit() {
    stemma::module_tree_builder builder;
    builder.at_path("engine.pump");
    return builder.build().path(2);
}
