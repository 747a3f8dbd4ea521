// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPE_WEIGHTS_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPE_WEIGHTS_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/find_quantized.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/detail/mark_matrices.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: by parameter, what it was made from, for those marked in `asked`: a quantizer converts
/// a weight only for some of its readers, and `fc.weight_quantized` is `fc.weight`. Others are
/// passed on under further names, or their own origin. Complexity: O(bytes of names) on average.
template <parameter_readers Ops>
[[nodiscard]] std::vector<id> find_origins(const Ops& ops, const std::vector<bool>& asked) {
    const auto count = static_cast<id>(ops.parameter_count());
    std::vector<id> origins;
    std::vector<std::pair<id, std::string_view>> converted; // and the name before
    for (id p = 0; p < count; ++p) {
        origins.push_back(origin_of(ops, p));
        if (!asked[p]) {
            continue;
        }
        const std::string_view name = ops.parameter_name(p);
        for (const auto suffix : quantized_suffixes) {
            if (name.ends_with(suffix)) {
                converted.emplace_back(p, name.substr(0, name.size() - suffix.size()));
            }
        }
    }
    std::unordered_map<std::string_view, id> by_name;
    for (id p = 0; p < count && !converted.empty(); ++p) {
        by_name.emplace(ops.parameter_name(p), origins[p]);
    }
    for (const auto& [p, name] : converted) {
        const auto source = by_name.find(name);
        origins[p] = source == by_name.end() ? origins[p] : source->second;
    }
    return origins;
}

/// The parameters that are read in each repeated scope, `fc` beside `fc_1`, and in the scopes in
/// it; the weights also with those. Weights are the parameters whose shapes tell; a bias or a
/// constant may be anybody's. Other scopes have none: few models repeat any.
class scope_weights {
public:
    /// Complexity: O(scopes + operators + reads of parameters) on average.
    template <parameter_readers Ops>
    scope_weights(const Ops& ops, const scope_table& table)
        : rank_(table.scopes.size()), end_(table.scopes.size()) {
        const auto repeated = repeated_in(table);
        std::vector<std::pair<id, id>> reads; // repeated scope, parameter
        std::vector<bool> marked(static_cast<std::size_t>(ops.parameter_count()));
        for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
            const auto s = table.scope_of[index_of(ops.graph(), *it)];
            if (s != no_id && repeated[s]) {
                ops.for_each_parameter(*it, [&](id p) {
                    reads.emplace_back(s, p);
                    marked[p] = true;
                });
            }
        }
        const auto origins = reads.empty() ? std::vector<id>() : find_origins(ops, marked);
        own_ = grouped_ids(table.scopes.size(), [&](auto take) {
            for (const auto& [s, p] : reads) {
                take(s, origins[p]);
            }
        });
        std::vector<bool> weights; // by origin, which may be beyond the parameters
        marked = keep_matrices(ops, std::move(marked));
        for (id p = 0; p < marked.size(); ++p) {
            if (const id origin = marked[p] ? origins[p] : no_id; origin != no_id) {
                weights.resize(std::max<std::size_t>(weights.size(), origin + std::size_t{1}));
                weights[origin] = true;
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
            for (id s = 0; s < sizes.size(); ++s) {
                for (const auto p : own_[s]) {
                    if (p < weights.size() && weights[p]) {
                        take(rank_[s], p);
                    }
                }
            }
        });
        readers_ = grouped_ids(weights.size(), [&](auto take) {
            for (id r = 0; r < reads_.size(); ++r) {
                for (const auto p : reads_[r]) {
                    take(p, r);
                }
            }
        });
    }

    /// Returns: the origins of all parameters that the operators of scope `s` itself read.
    [[nodiscard]] std::span<const id> own(id s) const { return own_[s]; }

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
    /// Returns: by scope, whether it or one around it is repeated.
    [[nodiscard]] static std::vector<bool> repeated_in(const scope_table& table) {
        std::vector<bool> repeated(table.scopes.size());
        for (id s = scope_style_count; s < repeated.size(); ++s) {
            if (table.scopes[s].numbered) {
                repeated[s] = true; // the first call may be gone
                if (const auto first = unnumbered_scope(table, s); first != no_id) {
                    repeated[first] = true;
                }
            }
        }
        for (id s = scope_style_count; s < repeated.size(); ++s) {
            repeated[s] = repeated[s] || repeated[table.scopes[s].parent];
        }
        return repeated;
    }

    grouped_ids own_;      // by scope: origins of what its own operators read
    std::vector<id> rank_; // by scope: its place before the scopes in it
    std::vector<id> end_;  // by scope: one past the last rank in it
    grouped_ids reads_;    // by rank: weights that its own operators read
    grouped_ids readers_;  // by weight: ranks, ascending
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SCOPE_WEIGHTS_HPP
