// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_LENT_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_LENT_MODULES_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_resolver.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/module_view.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Scopes of containers that only call what the module around them owns: after
/// `self.net = Sequential(self.conv, self.act)`, torch prints `net/conv` and `net/act`, which are
/// `conv` and `act`. Parameters show it for some of what such a scope calls, hence for all.
template <module_view Modules>
class lent_modules {
public:
    /// `known`: by scope, the module that parameters show, or `no_id`. Complexity: O(scopes).
    lent_modules(const scope_table& table, const Modules& modules,
                 std::span<const scope_module> known)
        : owner_(table.scopes.size(), no_id) {
        const auto& tree = modules.index();
        std::vector<bool> mixed(owner_.size(), false);
        for (id s = scope_style_count; s < owner_.size(); ++s) {
            const auto module = known[s].module;
            const auto container = table.scopes[s].parent;
            if (module == no_id || module == 0 || container < scope_style_count) {
                continue;
            }
            auto& owner = owner_[container];
            mixed[container] = mixed[container] || (owner != no_id && owner != tree.parent(module));
            owner = tree.parent(module);
        }
        for (id s = scope_style_count; s < owner_.size(); ++s) {
            const auto& scope = table.scopes[s];
            const bool lends = !mixed[s] && known[s].module == no_id && scope.operators == 0 &&
                               scope.style == scope_style::called &&
                               known[scope.parent].module == owner_[s];
            owner_[s] = lends ? owner_[s] : no_id;
        }
    }

    /// Returns: the module that owns what scope `s` calls, if that is not the module of `s`; else
    /// `no_id`.
    [[nodiscard]] id owner(id s) const { return owner_[s]; }

private:
    std::vector<id> owner_; // by scope
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_LENT_MODULES_HPP
