// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_LONE_OWNERS_HPP
#define STEMMA_EVIDENCE_DETAIL_LONE_OWNERS_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: for each module with parameters, the outermost module around it that runs and in which
/// nothing else has parameters; `no_id` for other modules, and if that is the model.
/// Complexity: O(modules + parameters), times the depth of the lists around modules.
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] std::vector<id> modules_around_lone_owners(const region_facts<Ops, Modules>& facts) {
    const auto& tree = facts.tree;
    std::vector<id> owning(tree.size(), 0); // how many in and below a module have parameters
    for (id p = 0; p < facts.ops.parameter_count(); ++p) {
        for (auto owner : facts.owners.of(p)) {
            owning[owner] = 1;
        }
    }
    const std::vector<id> owns = owning;
    for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
        owning[tree.parent(m)] += owning[m];
    }
    std::vector<id> outermost(tree.size(), no_id); // with one that has parameters
    std::vector<id> around(tree.size(), no_id);
    for (id m = 1; m < tree.size(); ++m) {
        const auto above = outermost[tree.parent(m)];
        outermost[m] = owning[m] != 1 ? no_id : above == no_id ? m : above;
        const auto runs = outermost[m] == no_id ? no_id : facts.code.nearest(outermost[m]);
        around[m] = owns[m] == 0 || runs == m || runs == 0 ? no_id : runs;
    }
    return around;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_LONE_OWNERS_HPP
