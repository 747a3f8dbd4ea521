// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_NAME_MODULES_HPP
#define STEMMA_TAGGING_NAME_MODULES_HPP

#include <stemma/core/detail/policy_name.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/tagging/naming.hpp>
#include <stemma/tagging/selection.hpp>

#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

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

} // namespace detail

/// Returns: the tags of the modules that `selection` selects, named by `naming`.
/// Complexity: that of the two policies, plus O(modules).
template <module_view Modules, detail::selecting<Modules> Selection = not_infrastructure,
          naming_policy<Modules> Naming = class_paths>
[[nodiscard]] tag_table name_modules(const Modules& modules, const Selection& selection = {},
                                     const Naming& naming = {}) {
    tag_table tags(modules.index(), detail::select_modules(modules, selection));
    naming.name_modules(modules, tags);
    if (tags.is_misplaced()) {
        detail::refuse_answer(naming, "naming", "gives a segment to a module that is not selected");
    }
    for (id m = 0; m < tags.size(); ++m) {
        if (tags.is_selected(m) && !tags.has_segment(m)) {
            detail::refuse_answer(naming, "naming", "gives a selected module no segment");
        }
    }
    tags.finish();
    return tags;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_NAME_MODULES_HPP
