// SPDX-License-Identifier: Apache-2.0
// Uses a header of the core, and range-v3 views of its results.
#include <stemma/model/module_tree_builder.hpp>

#include <range/v3/view/filter.hpp>

#include <iostream>

int main() {
    stemma::module_tree_builder builder;
    builder.at_path("engine.pump");
    const auto tree = builder.build();
    const auto is_leaf = [&](stemma::id m) { return tree.children(m).empty(); };
    for (const auto m : tree.modules() | ranges::views::filter(is_leaf)) {
        std::cout << tree.path(m) << "\n";
        return tree.path(m) == "engine.pump" ? 0 : 1;
    }
    return 1;
}
