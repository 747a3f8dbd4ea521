// SPDX-License-Identifier: Apache-2.0
// Selection: which modules get a tag of their own? Here exactly the modules of torch.nn that are
// not containers.
#include "small_model.hpp"

#include <stemma/tagging/selection.hpp>

struct layers_only {
    using policy_category = stemma::selection_category;

    template <stemma::module_view Modules>
    [[nodiscard]] bool selects(const Modules& modules, stemma::id m) const {
        return stemma::is_in_package(modules.qualified_class(m), "torch.nn") &&
               modules.class_name(m) != "ModuleList";
    }
};

static_assert(
    stemma::explain_policy<stemma::selection_category, layers_only, stemma::module_tree>());

int main() {
    const auto graph = make_graph();
    const auto modules = make_modules();
    print(graph, modules,
          stemma::tag_operators(view_of(graph), modules, stemma::policies{layers_only{}}));
}
