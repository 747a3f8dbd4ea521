// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPE_WEIGHTS_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPE_WEIGHTS_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/detail/mark_matrices.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <set>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The weights that are read in each scope, and in the scopes in it. Weights are the parameters
/// whose shapes tell; a bias or a constant may be anybody's.
class scope_weights {
public:
    /// `parameters` has, by scope, the origins of what its own operators read.
    /// Complexity: O(scopes + reads of parameters), times a logarithm.
    template <parameter_readers Ops>
    scope_weights(const Ops& ops, const scope_table& table,
                  const std::vector<std::vector<id>>& parameters)
        : rank_(table.scopes.size()), end_(table.scopes.size()) {
        std::set<id> weights;
        const auto marked = mark_matrices(ops);
        for (id p = 0; p < marked.size(); ++p) {
            if (marked[p]) {
                weights.insert(origin_of(ops, p));
            }
        }
        std::vector<id> sizes(table.scopes.size(), 1);
        for (auto s = static_cast<id>(sizes.size()); s-- > scope_style_count;) {
            sizes[table.scopes[s].parent] += sizes[s];
        }
        id roots = 0;
        for (id s = 0; s < sizes.size(); ++s) {
            auto& next = s < scope_style_count ? roots : end_[table.scopes[s].parent];
            rank_[s] = next;
            end_[s] = next + 1; // until the scopes in it follow
            next += sizes[s];
        }
        reads_ = grouped_ids(sizes.size(), [&](auto take) {
            for (id s = 0; s < parameters.size(); ++s) {
                for (const auto p : parameters[s]) {
                    if (weights.contains(p)) {
                        take(rank_[s], p);
                    }
                }
            }
        });
        readers_ = grouped_ids(weights.empty() ? 0 : *weights.rbegin() + 1, [&](auto take) {
            for (id r = 0; r < reads_.size(); ++r) {
                for (const auto p : reads_[r]) {
                    take(p, r);
                }
            }
        });
    }

    /// Whether an operator of scope `s` itself reads a weight.
    [[nodiscard]] bool any_in(id s) const { return !reads_[rank_[s]].empty(); }

    /// Returns: the weights read in scope `s` and below it.
    [[nodiscard]] std::span<const id> below(id s) const { return reads_.range(rank_[s], end_[s]); }

    /// Whether a weight is read in or below both scopes. Complexity: O(those of `b`), times a
    /// logarithm.
    [[nodiscard]] bool share(id a, id b) const {
        return range::any_of(below(b), [&](id p) {
            const auto readers = readers_[p];
            const auto at = std::lower_bound(readers.begin(), readers.end(), rank_[a]);
            return at != readers.end() && *at < end_[a];
        });
    }

private:
    std::vector<id> rank_; // by scope: its place before the scopes in it
    std::vector<id> end_;  // by scope: one past the last rank in it
    grouped_ids reads_;    // by rank: weights that its own operators read
    grouped_ids readers_;  // by weight: ranks, ascending
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SCOPE_WEIGHTS_HPP
