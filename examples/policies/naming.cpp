// SPDX-License-Identifier: Apache-2.0
// Naming: what do tags look like? Here class and attribute together: `Block[blocks.0]`.
#include "small_model.hpp"

#include <stemma/tagging/naming.hpp>

struct class_and_path {
    using policy_category = stemma::naming_category;

    template <stemma::module_view Modules>
    void name_modules(const Modules& modules, stemma::tag_table& tags) const {
        for (stemma::id m = 0; m < modules.index().size(); ++m) {
            if (tags.is_selected(m)) {
                // The whole path tells siblings apart, whatever lies between them and their tag.
                tags.set_segment(m, std::string(modules.class_name(m)) + "[" +
                                        stemma::path_of(modules, m) + "]");
            }
        }
    }
};

static_assert(
    stemma::explain_policy<stemma::naming_category, class_and_path, stemma::module_tree>());

int main() {
    const auto graph = make_graph();
    const auto modules = make_modules();
    print(graph, modules,
          stemma::tag_operators(view_of(graph), modules, stemma::policies{class_and_path{}}));
}
