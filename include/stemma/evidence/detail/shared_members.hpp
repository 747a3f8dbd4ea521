// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SHARED_MEMBERS_HPP
#define STEMMA_EVIDENCE_DETAIL_SHARED_MEMBERS_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>

#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds modules that sequences share with a module around them. After
/// `self.body = Sequential(Linear(...), self.act)`, torch prints `body/body.0` and `body/act`: the
/// members of a sequence have numbers, so that the other one is `act`.
class shared_members {
public:
    /// Requires: `table` outlives this. Complexity: O(scopes).
    explicit shared_members(const scope_table& table)
        : table_(table), is_sequence_(table.scopes.size(), false) {
        for (id s = scope_style_count; s < table.scopes.size(); ++s) {
            const auto around = table.scopes[s].parent;
            is_sequence_[around] = is_sequence_[around] || is_member(s);
        }
    }

    /// Returns: the scope in which the module of scope `s` ran outside the sequence, if `s` is in
    /// one, both have the same operators and neither calls a module; else `no_id`.
    /// Complexity: O(depth) expected.
    [[nodiscard]] id outside(id s) const {
        const auto& scope = table_.scopes[s];
        if (scope.style != scope_style::called || scope.operators == 0 || is_member(s) ||
            !is_sequence_[scope.parent] || table_.scopes[scope.parent].operators != 0) {
            return no_id;
        }
        for (auto around = table_.scopes[scope.parent].parent; around != no_id;
             around = table_.scopes[around].parent) {
            const auto other = table_.find(around, scope.instance());
            if (other != no_id && table_.scopes[other].kinds == scope.kinds) {
                return other;
            }
        }
        return no_id;
    }

private:
    /// Whether a scope is called like a member of the one around: `body.0` in `body`.
    [[nodiscard]] bool is_member(id s) const {
        const auto around = table_.scopes[table_.scopes[s].parent].instance();
        const auto name = table_.scopes[s].instance();
        return !around.empty() && name.starts_with(around) && name.size() > around.size() &&
               name[around.size()] == '.' && is_number(name.substr(around.size() + 1));
    }

    const scope_table& table_;
    std::vector<bool> is_sequence_; // by scope
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SHARED_MEMBERS_HPP
