// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_INNER_CALLS_HPP
#define STEMMA_EVIDENCE_DETAIL_INNER_CALLS_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/scope_weights.hpp>

#include <cstddef>
#include <map>
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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_INNER_CALLS_HPP
