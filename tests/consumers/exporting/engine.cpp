// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

#include <stemma/model/module_tree_builder.hpp>

stemma::module_tree engine() {
    stemma::module_tree_builder builder;
    builder.at_path("engine.pump");
    return builder.build();
}
