// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_HEADLESS_CALLS_HPP
#define STEMMA_EVIDENCE_DETAIL_HEADLESS_CALLS_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/scope_weights.hpp>

#include <cstddef>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds calls of modules whose first call is gone, as where an optimizer computed that in advance:
/// of `fc`, `fc_1` and `fc_2`, the latter two are left, and read the same weight.
class headless_calls {
public:
    /// Complexity: O(scopes + weights read in numbered ones, and below them), times a logarithm.
    headless_calls(const scope_table& table, const scope_weights& weights)
        : other_(table.scopes.size(), no_id) {
        // By enclosing scope and name without the number: by number.
        std::map<std::pair<id, std::string_view>, std::map<std::size_t, id>> series;
        for (id s = scope_style_count; s < other_.size(); ++s) {
            const auto& scope = table.scopes[s];
            const auto counted = scope.counted();
            if (counted && scope.style == scope_style::called &&
                table.find(scope.parent, counted->first) == no_id) {
                series[{scope.parent, counted->first}].emplace(counted->second, s);
            }
        }
        for (const auto& [name, calls] : series) {
            std::unordered_map<id, id> earliest; // by weight
            for (const auto& [number, s] : calls) {
                for (const auto weight : weights.below(s)) {
                    const auto before = earliest.emplace(weight, s).first->second;
                    if (before != s && other_[s] == no_id) {
                        other_[s] = before;
                        other_[before] = other_[before] == no_id ? s : other_[before];
                    }
                }
            }
        }
    }

    /// Returns: the scope of another call of the module called in the numbered scope `s`; `no_id`
    /// if there is none, or the scope without the number exists.
    [[nodiscard]] id other_call(id s) const { return other_[s]; }

private:
    std::vector<id> other_; // by scope
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_HEADLESS_CALLS_HPP
