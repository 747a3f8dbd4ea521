// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_ALIGNMENT_JUDGE_HPP
#define STEMMA_ALIGN_DETAIL_ALIGNMENT_JUDGE_HPP

#include <stemma/align/alignment.hpp>
#include <stemma/align/captured_operations.hpp>
#include <stemma/align/detail/aligned_items.hpp>
#include <stemma/align/detail/aligned_nodes.hpp>
#include <stemma/align/detail/parameter_scores.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/config.hpp>
#include <stemma/core/detail/disjoint_sets.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Counts the evidence for and against the placements of an alignment.
class alignment_judge {
public:
    /// `item_of` is the operation of each operator. Requires: all arguments outlive it.
    alignment_judge(const aligned_nodes& nodes, const aligned_items& items,
                    const captured_operations& captured, const parameter_scores& parameters,
                    const std::vector<id>& item_of)
        : nodes_(nodes)
        , items_(items)
        , captured_(captured)
        , parameters_(parameters)
        , item_of_(item_of)
        , made_count_(captured.size(), 0)
        , parts_(nodes.size())
        , links_(nodes.size(), false)
        , confirmed_(nodes.size(), false) {}

    /// Exporters compute shapes and constants as they like.
    [[nodiscard]] bool is_judged(id n) const { return !nodes_.of_shapes[n] && !nodes_.fixed[n]; }

    /// `again`: the operation already has a head. Complexity: O(edges and parameters of the
    /// operator).
    void judge(id n, id item, bool again, alignment& result) {
        const auto fit = fits(n, item);
        // One operation produces a limited number of operators; its lower-level names tell how
        // many.
        const auto below = captured_.names_of(item).size();
        const auto room = captured_[item].exact ? 6 + 2 * below : 64;
        const bool surplus =
            ++made_count_[item] > room || (again && fit == correspondence::head && below < 8);
        result.explained += is_judged(n) && fit >= correspondence::part && !surplus ? 1U : 0U;
        for (auto u : nodes_.producers[n]) {
            if (item_of_[u] == item) {
                parts_.join(n, u);
            }
            if (is_judged(n) && is_judged(u) && item_of_[u] != no_id && item_of_[u] != item) {
                const bool flows = items_.flows(item_of_[u], item);
                const bool links = flows || !is_shared(u, item);
                result.flows += flows ? 1U : 0U;
                result.links += links ? 1U : 0U;
                for (auto end : {n, u}) {
                    links_[end] = links_[end] || links;
                    confirmed_[end] = confirmed_[end] || flows;
                }
            }
        }
        for (auto p : nodes_.parameters[n]) {
            const auto fitting = parameters_.agrees(p, item);
            result.reads += fitting ? 1U : 0U;
            result.agreed += fitting.value_or(false) ? 1U : 0U;
            confirmed_[n] = confirmed_[n] || fitting.value_or(false);
            if (!fitting.value_or(true) && !parameters_.is_named(p)) {
                strangers_.push_back(p);
            }
            if (parameters_.is_named(p) && !*fitting && !items_.is_fused[nodes_.type[n]]) {
                ++result.contradicted;
                auto& entry = result.of[nodes_.vertex[n]];
                entry.confidence = std::min(entry.confidence, confidence::aligned_against);
            }
        }
    }

    /// No longer counts as parameters what no operation reads and is one number throughout, such as
    /// the zeros that a recurrent layer starts with. Complexity: O(parameters), and their data.
    template <class Ops>
    void excuse_uniform(const Ops& ops, alignment& result) const {
        if constexpr (valued_parameters<Ops>) {
            std::vector<bool> uniform(strangers_.empty() ? 0 : ops.parameter_count(), false);
            for (auto p : strangers_) {
                uniform[p] = true;
            }
            ops.keep_uniform(uniform);
            result.reads -= static_cast<std::size_t>(std::count_if(
                strangers_.begin(), strangers_.end(), [&](id p) -> bool { return uniform[p]; }));
        }
    }

    /// Withdraws what is claimed about connected operators of one operation that exchange data with
    /// others, but none as captured, and read no parameter as captured: they were mistaken for
    /// others. Complexity: O(operators), nearly.
    void withdraw_unconfirmed(alignment& result) {
        for (id n = 0; n < nodes_.size(); ++n) {
            const auto part = parts_.find(n);
            links_[part] = links_[part] || links_[n];
            confirmed_[part] = confirmed_[part] || confirmed_[n];
        }
        for (id n = 0; n < nodes_.size(); ++n) {
            const auto part = parts_.find(n);
            if (links_[part] && !confirmed_[part]) {
                result.of[nodes_.vertex[n]] = {};
            }
        }
    }

private:
    [[nodiscard]] correspondence fits(id n, id item) const {
        return items_.table[items_.profile[item]][nodes_.type[n]];
    }

    /// Whether an optimizer may have computed operator `u`, which reads no parameters, once for two
    /// operations that read the same: its own one, and another one of which it is a part.
    [[nodiscard]] bool is_shared(id u, id item) const {
        const auto own = items_.sources[item_of_[u]];
        const auto other = items_.sources[item];
        return fits(u, item) == correspondence::part && nodes_.parameters[u].empty() &&
               std::find_first_of(own.begin(), own.end(), other.begin(), other.end()) != own.end();
    }

    const aligned_nodes& nodes_;
    const aligned_items& items_;
    const captured_operations& captured_;
    const parameter_scores& parameters_;
    const std::vector<id>& item_of_;
    std::vector<std::size_t> made_count_; // by operation: its operators
    disjoint_sets parts_;                 // operators of one operation that are connected
    std::vector<bool> links_;             // by operator: exchanges data with other operations
    std::vector<bool> confirmed_;         // some of it, or a parameter, as captured
    std::vector<id> strangers_; // parameters of unknown names that do not fit, one for each read
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_ALIGNMENT_JUDGE_HPP
