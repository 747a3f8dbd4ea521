// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_PRINTS_AS_HPP
#define STEMMA_EVIDENCE_DETAIL_PRINTS_AS_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/module_view.hpp>

#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// The names and parents of modules, for `prints_as`.
template <module_view Modules>
struct printed_tree {
    const Modules& modules;

    [[nodiscard]] id parent(id m) const { return modules.index().parent(m); }
    [[nodiscard]] std::string_view name(id m) const { return modules.name(m); }
};

/// Whether a call of `m` prints as `segment`: the part of its path from the last non-numeric name.
/// `Tree` has `parent(m)` and `name(m)`. Complexity: O(length).
template <class Tree>
[[nodiscard]] bool prints_as(const Tree& tree, id m, std::string_view segment) {
    while (m != 0) {
        const std::string_view name = tree.name(m);
        if (!segment.ends_with(name)) {
            return false;
        }
        segment.remove_suffix(name.size());
        const bool goes_on = is_number(name) && tree.parent(m) != 0;
        if (!goes_on) {
            return segment.empty();
        }
        if (!segment.ends_with('.')) {
            return false;
        }
        segment.remove_suffix(1);
        m = tree.parent(m);
    }
    return segment.empty();
}

/// As above; the segment may have a suffix for further calls.
template <class Tree>
[[nodiscard]] bool may_print(const Tree& tree, id m, std::string_view segment) {
    if (prints_as(tree, m, segment)) {
        return true;
    }
    const auto counted = split_count(segment);
    return counted && prints_as(tree, m, counted->first);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_PRINTS_AS_HPP
