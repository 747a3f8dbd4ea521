// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_MODULE_MEMBERS_HPP
#define STEMMA_MODEL_DETAIL_MODULE_MEMBERS_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The operators of every module, with and without its descendants.
class module_members {
public:
    /// `attributions` is by vertex index; every operator has a module.
    /// Requires: modules are numbered in preorder. Complexity: O(operators + modules).
    module_members(const tree_index& modules, std::span<const attribution> attributions)
        : modules_(&modules), members_(modules.size(), [&](auto take) {
            for (id v = 0; v < attributions.size(); ++v) {
                take(attributions[v].module, v);
            }
        }) {}

    /// Returns: the number of operators in a module or below it.
    [[nodiscard]] std::size_t count(id m) const { return below(m).size(); }

    /// Returns: the operators directly in a module, ascending.
    [[nodiscard]] std::span<const id> direct(id m) const { return members_[m]; }

    /// Returns: the operators in a module or below it, ascending.
    /// Complexity: O(n log n) of the result.
    [[nodiscard]] std::vector<id> all(id m) const {
        const auto members = below(m);
        std::vector<id> sorted(members.begin(), members.end());
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }

private:
    [[nodiscard]] std::span<const id> below(id m) const {
        return members_.range(m, modules_->end(m));
    }

    const tree_index* modules_;
    grouped_ids members_;
};

/// Returns: which call of module `m` an operator belongs to, derived from the call of the
/// operator's own module; `no_id` if that is undetermined.
///
/// `calls(module)` returns how often a module is called, `no_id` if unknown.
template <class Calls>
[[nodiscard]] id call_of(id m, const attribution& a, Calls calls) {
    const id outer = calls(m);
    const id inner = calls(a.module);
    const bool is_known = outer != no_id && inner != no_id && a.call < inner && outer > 0;
    return is_known && inner % outer == 0 ? a.call / (inner / outer) : no_id;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_MODULE_MEMBERS_HPP
