// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_BYPASSED_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_BYPASSED_MODULES_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the modules whose parameters are used by their parent directly, without calling them;
/// sorted.
///
/// `torch.nn.MultiheadAttention` is recognized by its own parameters, `in_proj_weight` and
/// `in_proj_bias`. It never calls its `out_proj`. If there is one, a module of which only a child
/// `out_proj` is left is taken for another, whose own parameters were merged or split.
/// Complexity: O(modules + parameters), and O(children) of each such module.
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] std::vector<id> find_bypassed_modules(const Ops& ops, const Modules& modules,
                                                    const parameter_owners& owners) {
    const tree_index& tree = modules.index();
    std::vector<id> bypassed;
    const auto is_projection = [&](id m) {
        return std::string_view(modules.name(m)) == "out_proj";
    };
    std::vector<bool> owns(tree.size(), false);
    for (id p = 0; p < ops.parameter_count(); ++p) {
        for (auto owner : owners.of(p)) {
            owns[owner] = true;
        }
    }
    for (id p = 0; p < ops.parameter_count(); ++p) {
        const std::string_view name = ops.parameter_name(p);
        if (!name.ends_with("in_proj_weight") && !name.ends_with("in_proj_bias")) {
            continue;
        }
        for (auto owner : owners.of(p)) {
            for (auto m = owner + 1; m < tree.end(owner); m = tree.end(m)) {
                if (is_projection(m)) {
                    bypassed.push_back(m);
                }
            }
        }
    }
    for (id m = 1; m < tree.size() && !bypassed.empty(); ++m) {
        const auto above = tree.parent(m);
        if (is_projection(m) && !owns[above] && m == above + 1 && tree.end(above) == tree.end(m)) {
            bypassed.push_back(m);
        }
    }
    bypassed = range::each_once(std::move(bypassed));
    return bypassed;
}

/// Returns: `m`, or its parent if `m` is one of `bypassed`.
/// Complexity: O(log bypassed).
template <module_view Modules>
[[nodiscard]] id past_bypassed(const Modules& modules, const std::vector<id>& bypassed, id m) {
    const bool has_match =
        !bypassed.empty() && std::binary_search(bypassed.begin(), bypassed.end(), m);
    return has_match ? modules.index().parent(m) : m;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_BYPASSED_MODULES_HPP
