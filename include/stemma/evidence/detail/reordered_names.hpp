// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_REORDERED_NAMES_HPP
#define STEMMA_EVIDENCE_DETAIL_REORDERED_NAMES_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_resolver.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether the order of operators was changed: exporters number operators of one type in a scope,
/// `Mul`, `Mul_1`, `Mul_2`, in the order in which they run.
/// They number calls in the same way, `fc`, `fc_1`: of list members, and where `are_one(s, t)` says
/// that two scopes stand for one module.
/// Complexity: O(operators * log of the scopes), up to the first pair in the wrong order.
template <named_operators Ops, class AreOne>
[[nodiscard]] bool are_reordered(const Ops& ops, const scope_table& table, AreOne are_one) {
    std::map<std::pair<id, std::string_view>, std::size_t> last;
    for (auto [it, end] = vertices(ops.graph()); it != end; ++it) {
        const auto scope = table.scope_of[index_of(ops.graph(), *it)];
        const std::string_view type = ops.op_type(*it);
        std::string_view name = ops.name(*it);
        name.remove_prefix(name.rfind('/') + 1);
        if (scope == no_id || !is_counted(name, type)) {
            continue;
        }
        std::size_t count = 0;
        for (char c : name.substr(name.size() == type.size() ? type.size() : type.size() + 1)) {
            count = count * 10 + static_cast<std::size_t>(c - '0');
        }
        auto [entry, added] = last.try_emplace({scope, type}, count);
        if (!added && count < entry->second) {
            return true;
        }
        entry->second = count;
    }
    for (id s = scope_style_count; s < table.scopes.size(); ++s) {
        const auto& scope = table.scopes[s];
        const auto counted = scope.counted();
        const auto first = counted ? table.find(scope.parent, counted->first) : no_id;
        if (first != no_id && first > s &&
            (is_number(counted->first.substr(counted->first.rfind('.') + 1)) ||
             are_one(s, first))) {
            return true;
        }
    }
    return false;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_REORDERED_NAMES_HPP
