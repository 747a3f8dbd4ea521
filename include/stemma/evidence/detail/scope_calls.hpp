// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPE_CALLS_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPE_CALLS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/vertex_ranges.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_resolver.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

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

/// Numbers the scopes of each module in the order of their first operators, before those that have
/// only Constants, which tools move to the front.
template <named_operators Ops>
void number_scopes(const Ops& ops, const scope_table& table, scope_modules& result,
                   std::size_t module_count) {
    std::vector<id> calls(module_count, 0);
    std::unordered_map<std::uint64_t, id> shared; // by scope and module: call
    const auto number = [&](id v) {
        auto& scope = result.of_scope[table.scope_of[v]];
        if (const auto own = result.of_operator.find(v); own != result.of_operator.end()) {
            const auto m = own->second.module;
            const auto key = std::uint64_t{table.scope_of[v]} << 32U | m;
            const auto [entry, added] = shared.try_emplace(key, calls[m]);
            calls[m] += added ? 1 : 0;
            own->second.call = entry->second;
        } else if (scope.call == no_id && scope.module != no_id) {
            scope.call = calls[scope.module]++;
        }
    };
    std::vector<id> constants;
    for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
        const auto v = static_cast<id>(index_of(ops.graph(), *it));
        const bool constant = std::string_view(ops.op_type(*it)) == "Constant";
        if (table.scope_of[v] != no_id) {
            constant ? constants.push_back(v) : number(v);
        }
    }
    std::for_each(constants.begin(), constants.end(), number);
}

/// Sets how often modules ran in a builder: as often as they have scopes; and never, if a scope
/// leads from one module past another to one below.
inline void note_calls(const scope_table& table, const scope_modules& bound,
                       module_tree_builder& builder) {
    std::vector<id> calls(builder.size(), 0);
    const auto note = [&](const scope_module& place) {
        calls[place.module] =
            std::max(calls[place.module], place.call == no_id ? 1 : place.call + 1);
    };
    std::for_each(bound.of_scope.begin(), bound.of_scope.end(), note);
    for (const auto& [v, place] : bound.of_operator) {
        note(place);
    }
    for (id m = 0; m < calls.size(); ++m) {
        if (calls[m] != 0) {
            builder.set_calls(m, calls[m]);
        }
    }
    for (id s = scope_style_count; s < table.scopes.size(); ++s) {
        const auto around = bound.of_scope[table.scopes[s].parent].module;
        auto m = builder.parent(bound.of_scope[s].module);
        for (; m != no_id && m != around; m = builder.parent(m)) {
            if (builder.calls(m) == no_id) {
                builder.set_calls(m, 0);
            }
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SCOPE_CALLS_HPP
