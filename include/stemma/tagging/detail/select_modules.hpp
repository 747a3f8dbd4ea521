// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_DETAIL_SELECT_MODULES_HPP
#define STEMMA_TAGGING_DETAIL_SELECT_MODULES_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/tagging/selection.hpp>

#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: for each module the nearest selected module at or above it. `selection` is a policy, or
/// a function of modules and module.
/// Complexity: one `selects` per module.
template <module_view Modules, selecting<Modules> Selection = not_infrastructure>
[[nodiscard]] std::vector<id> select_modules(const Modules& modules,
                                             const Selection& selection = {}) {
    const tree_index& tree = modules.index();
    std::vector<id> selected(tree.size());
    for (id m = 1; m < tree.size(); ++m) {
        selected[m] = selects(selection, modules, m) ? m : selected[tree.parent(m)];
    }
    return selected;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TAGGING_DETAIL_SELECT_MODULES_HPP
