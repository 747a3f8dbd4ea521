// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_PARAMETER_BLOCKS_HPP
#define STEMMA_EVIDENCE_DETAIL_PARAMETER_BLOCKS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/operator_kinds.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the operators that belong to a module besides those that read its parameters, in a model
/// without names: the product before a bias, the steps of a normalization before its scale.
template <operator_view Ops, module_view Modules>
class parameter_blocks {
public:
    /// Requires: `facts` outlives it.
    explicit parameter_blocks(region_facts<Ops, Modules>& facts)
        : facts_(facts), owner_(facts.owner) {}

    /// Assigns such operators to the module of those that read its parameters.
    /// Complexity: O(V + E).
    void complete() {
        for (id v = 0; v < facts_.size(); ++v) {
            complete_affine(v);
        }
        for (id v = 0; v < facts_.size(); ++v) {
            if (owner_[v] != no_id && facts_.bare[v] && facts_.is(v, "Mul")) {
                complete_normalization(v);
            }
        }
        for (id v = 0; v < facts_.size(); ++v) {
            complete_flattened(v);
        }
    }

private:
    [[nodiscard]] bool is_open(id v) const { return owner_[v] == no_id && facts_.bare[v]; }

    /// A multiplication by a weight whose name is lost, and the addition of a bias after it, which
    /// is no normalization of what another module computed.
    void complete_affine(id v) {
        const auto readers = facts_.readers(v);
        if (is_open(v) && facts_.lost[v] && !facts_.is(v, "Add") && readers.is_single()) {
            const auto w = readers.front();
            if (facts_.producers(w).is_single() && !facts_.is(w, "Mul") && !facts_.products[w] &&
                facts_.type(w).find("Normalization") == std::string_view::npos) {
                owner_[v] = owner_[w];
            }
        }
    }

    /// What lies between one value and the scale of a normalization, has no other use, and is not a
    /// product itself.
    void complete_normalization(id scale) {
        constexpr std::size_t max_region = 32;
        std::vector<id> region;
        std::size_t complete = 0; // how much of the region surely depends on one value
        std::vector<std::pair<id, std::size_t>> outside; // operator, times read inside
        const auto is_inside = [&](id v) { return v == scale || range::contains(region, v); };
        const auto look = [&](id v) {
            for (const auto u : facts_.producers(v)) {
                if (facts_.steady[u] || is_inside(u)) {
                    continue;
                }
                const auto entry =
                    range::find_if(outside, [&](const auto& one) { return one.first == u; });
                entry == outside.end() ? void(outside.emplace_back(u, 1)) : void(++entry->second);
            }
        };
        const auto is_used_inside_only = [&](id u) {
            return range::all_of(facts_.readers(u), is_inside) && is_open(u) &&
                   !is_product(facts_.type(u));
        };
        const auto normalizes = [&](id v) { return facts_.is(v, "InstanceNormalization"); };
        for (;;) {
            outside.clear();
            look(scale);
            std::for_each(region.begin(), region.end(), look);
            if (outside.size() == 1 && outside.front().second > 1) {
                complete = region.size();
                // Unless it subtracts the mean, after which only the variance is computed, what it
                // depends on may have been forked, too.
                if (!facts_.is(outside.front().first, "Sub")) {
                    break;
                }
            }
            const auto next = range::find_if(
                outside, [&](const auto& one) { return is_used_inside_only(one.first); });
            if (next == outside.end() || region.size() == max_region) {
                break;
            }
            const bool shapes = facts_.is(next->first, "Reshape");
            region.push_back(next->first);
            // Group normalization reshapes its input first.
            complete = normalizes(next->first) ||
                               (shapes && region.size() > 1 && normalizes(*(region.end() - 2)))
                           ? region.size()
                           : complete;
        }
        for (std::size_t i = 0; i < complete; ++i) {
            owner_[region[i]] = owner_[scale];
        }
    }

    /// Reshaping a value to a matrix for an operator that requires one, and back afterwards.
    void complete_flattened(id v) {
        if (owner_[v] == no_id || !facts_.is(v, "Gemm") || !facts_.readers(v).is_single()) {
            return;
        }
        const auto before = facts_.only_producer(v);
        const auto behind = facts_.readers(v).front();
        const auto is_reshape = [&](id u) { return is_open(u) && facts_.is(u, "Reshape"); };
        if (before != no_id && is_reshape(before) && is_reshape(behind) &&
            facts_.readers(before).is_single()) {
            owner_[before] = owner_[v];
            owner_[behind] = owner_[v];
        }
    }

    region_facts<Ops, Modules>& facts_;
    std::vector<id>& owner_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_PARAMETER_BLOCKS_HPP
