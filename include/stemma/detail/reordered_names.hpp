// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_DETAIL_REORDERED_NAMES_HPP
#define STEMMA_DETAIL_REORDERED_NAMES_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/scope_table.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace stemma::detail {

/// Whether somebody changed the order of operators: exporters count those of one type in a scope,
/// `Mul`, `Mul_1`, `Mul_2`, in the order in which they run.
/// Complexity: O(operators * log of the scopes), until some pair stands the wrong way round.
template <named_operators Ops>
[[nodiscard]] bool are_reordered(const Ops& ops, const scope_table& table) {
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
        auto [known, added] = last.try_emplace({scope, type}, count);
        if (!added && count < known->second) {
            return true;
        }
        known->second = count;
    }
    return false;
}

} // namespace stemma::detail

#endif // STEMMA_DETAIL_REORDERED_NAMES_HPP
