// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_MODULE_EXITS_HPP
#define STEMMA_EVIDENCE_DETAIL_MODULE_EXITS_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The operators that compute the results of modules.
template <operator_view Ops, module_view Modules>
class module_exits {
public:
    /// `placed` is by vertex index, the module if known. Requires: all arguments outlive it.
    /// Complexity: O(V + E), times the depth of the tree.
    module_exits(const region_facts<Ops, Modules>& facts, const std::vector<id>& placed)
        : facts_(facts)
        , placed_(placed)
        , reads_(placed.size())
        , exit_(facts.tree.size(), no_id)
        , has_several_(facts.tree.size(), false) {
        for (id v = 0; v < placed_.size(); ++v) {
            reads_[v] = owners_read(facts.ops, facts.owners, facts.vertex(v));
        }
        for (id v = 0; v < placed_.size(); ++v) {
            note(v, placed_[v]);
            note(v, reads_[v].low);
            note(v, reads_[v].low == no_id ? no_id : reads_[v].behind - 1);
        }
    }

    /// Whether a module is known to have an operator whose result others read.
    [[nodiscard]] bool has_any(id m) const { return exit_[m] != no_id; }

    /// Returns: the operator whose result others read, or `no_id` if it is not unique.
    [[nodiscard]] id only(id m) const { return has_several_[m] ? no_id : exit_[m]; }

    /// Whether an operator belongs to a module; one fused from several belongs to each.
    [[nodiscard]] bool is_in(id v, id m) const {
        const auto& tree = facts_.tree;
        const auto& read = reads_[v];
        return placed_[v] != no_id &&
               (tree.is_ancestor(m, placed_[v]) ||
                (read.low != no_id &&
                 (tree.is_ancestor(m, read.low) || tree.is_ancestor(m, read.behind - 1))));
    }

    /// Whether all readers of an operator's results belong to a module.
    [[nodiscard]] bool leads_to(id v, id m) const {
        bool all = true;
        facts_.for_each_reader(v, [&](id w) { all = all && is_in(w, m); });
        return all;
    }

private:
    void note(id v, id from) {
        const bool ends = facts_.count_readers(v) == 0; // an output of the model
        for (auto m = placed_[v] == no_id ? no_id : from; m != no_id && m != 0;
             m = facts_.tree.parent(m)) {
            if (!ends && leads_to(v, m)) {
                return;
            }
            has_several_[m] = has_several_[m] || (exit_[m] != no_id && exit_[m] != v);
            exit_[m] = v;
        }
    }

    const region_facts<Ops, Modules>& facts_;
    const std::vector<id>& placed_;
    std::vector<common_module> reads_; // parameters of these
    std::vector<id> exit_;             // by module, the last one found
    std::vector<bool> has_several_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_MODULE_EXITS_HPP
