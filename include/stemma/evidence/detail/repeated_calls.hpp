// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_REPEATED_CALLS_HPP
#define STEMMA_EVIDENCE_DETAIL_REPEATED_CALLS_HPP

#include <stemma/core/detail/grouped_ids.hpp>
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

/// Numbered scopes in another one, compared with those that they repeat.
struct call_comparison {
    std::size_t alike = 0;   ///< of the same module, or both read the same weight
    std::size_t others = 0;  ///< read only other weights
    std::size_t unknown = 0; ///< one of the two reads none
};

/// What further calls of a module call in turn is in the scope of its first call, with their
/// numbers: `/block_1/Add` and `/block/fc_1/MatMul`.
class inner_calls {
public:
    /// `inside` is `scopes_inside(table)`. Requires: both arguments outlive this.
    inner_calls(const scope_table& table, const grouped_ids& inside)
        : table_(table), inside_(inside) {}

    /// Returns: how the scopes in `first` that have the number of `s` compare. Those in further
    /// scopes count unless these are repeated, so that each scope counts for one around it.
    /// `earlier(t)` returns the scope that `t` repeats, or `no_id`; `repeated(t)` says whether
    /// there are further calls of `t`; `module_of(t)` returns the module that parameters show, or
    /// `no_id`. Complexity: O(scopes in `first`, and weights read below them) once, times a
    /// logarithm.
    template <class Earlier, class Repeated, class ModuleOf>
    [[nodiscard]] call_comparison compare(id first, id s, const scope_weights& weights,
                                          Earlier earlier, Repeated repeated, ModuleOf module_of) {
        const auto [cached, added] = counts_.try_emplace(first);
        auto& counts = cached->second;
        std::vector<id> open;
        if (added) {
            open.assign(inside_[first].begin(), inside_[first].end());
        }
        while (!open.empty()) {
            const auto inner = open.back();
            open.pop_back();
            const auto number = table_.scopes[inner].counted();
            const auto before = number ? earlier(inner) : no_id;
            if (before != no_id) {
                const auto module = module_of(inner);
                const bool is_same = module != no_id && module == module_of(before);
                const bool is_known =
                    !weights.below(before).empty() && !weights.below(inner).empty();
                auto& count = counts[number->second];
                ++(is_same || (is_known && weights.share(before, inner)) ? count.alike
                   : is_known                                            ? count.others
                                                                         : count.unknown);
            } else if (!repeated(inner)) {
                const auto below = inside_[inner];
                open.insert(open.end(), below.begin(), below.end());
            }
        }
        const auto counted = table_.scopes[s].counted();
        const auto entry = counted ? counts.find(counted->second) : counts.end();
        return entry == counts.end() ? call_comparison{} : entry->second;
    }

private:
    const scope_table& table_;
    const grouped_ids& inside_;
    std::map<id, std::map<std::size_t, call_comparison>> counts_; // by scope asked for, and number
};

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

#endif // STEMMA_EVIDENCE_DETAIL_REPEATED_CALLS_HPP
