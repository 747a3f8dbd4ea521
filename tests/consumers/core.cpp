// SPDX-License-Identifier: Apache-2.0
// Uses a header of the core.
#include <stemma/model/module_tree_builder.hpp>

#include <iostream>

int main() {
    stemma::module_tree_builder builder;
    builder.at_path("engine.pump");
    const auto path = builder.build().path(2);
    std::cout << path << "\n";
    return path == "engine.pump" ? 0 : 1;
}
