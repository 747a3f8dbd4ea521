// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_ALIGNED_ITEMS_HPP
#define STEMMA_ALIGN_DETAIL_ALIGNED_ITEMS_HPP

#include <stemma/align/captured_operations.hpp>
#include <stemma/align/detail/aligned_nodes.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/model/detail/operator_domain.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The captured operations with the facts that the alignment needs.
struct aligned_items {
    std::vector<id> profile; ///< row of the table
    std::vector<trail> leaves;
    std::vector<bool> of_shapes; ///< asks for a shape
    std::vector<bool> moves;     ///< by profile: mainly leaves operators that only rearrange
    id_lists
        sources; ///< items whose results they may read, possibly through items that leave no trace
    std::vector<std::vector<correspondence>> table; ///< by profile, then by type of operator
    std::vector<std::vector<bool>> fuses; ///< likewise: the type may be fused from it and others
    std::vector<bool> is_fused;     ///< by operator type: may be fused from several operations
    std::vector<double> part_costs; ///< by profile
    std::vector<double> skipped;    ///< cost of skipping everything before

    /// Finds what each item may read, past those that leave no trace.
    template <class IsPassed>
    void find_sources(const captured_operations& captured, IsPassed is_passed) {
        constexpr std::size_t max_sources = 24;
        id_lists found;
        std::vector<id> list;
        for (id i = 0; i < captured.size(); ++i) {
            list.clear();
            for (auto s : captured.sources_of(i)) {
                list.push_back(s);
                if (is_passed(s)) {
                    const auto further = found[s];
                    list.insert(list.end(), further.begin(), further.end());
                }
            }
            list = range::each_once(std::move(list));
            const auto first = list.size() > max_sources ? list.size() - max_sources : 0;
            for (auto k = first; k < list.size(); ++k) {
                found.add(list[k]);
            }
            found.close();
        }
        sources = std::move(found);
    }

    /// Whether an item may read what another one makes, or is the same.
    [[nodiscard]] bool flows(id from, id to) const {
        const auto all = sources[to];
        return from == to || std::binary_search(all.begin(), all.end(), from);
    }
};

/// Weights of the steps of an alignment: log-likelihoods, up to a constant.
struct alignment_weights {
    double part = 0.2;  ///< for a part,
    double parts = 0.3; ///< plus this times the logarithm of the number of kinds of parts
    double rare = 2;
    double plumbing = 2.5;
    double early = 0.7;     ///< before the head, except shapes that the operation needs
    double late = 1;        ///< shapes after the head,
    double late_part = 0.3; ///< and those the operation usually comes with
    double foreign = 7;     ///< an operator that does not fit the operation at all
    double repeated = 2;    ///< a second head of one operation
    double silent = 3;      ///< anything from an operation that leaves no trace
    double headless = 4;    ///< an operation without its head
    double skip_always = 5; ///< an operation that should have left something
    double skip_maybe = 0.8;
    double skip_never = 0.02;
    double jump = 30;         ///< maximum cost of skipping operations
    double lost = 3;          ///< entering an unexplained stretch
    double unexplained = 4.5; ///< each operator in it
    double known_parameter = 5;
    double other_parameter = 6;
    double shaped_parameter = 3;
    double misshapen_parameter = 1.5;
    double unread_parameter = 2;
    double flow = 1.2;
    double against_flow = 1.5;
    double leak = 1.5; ///< reading a result of its own operation
    double owner = 1;  ///< an owner of bodies: skips what ran there
    double entry = 2;  ///< starting or ending a body anywhere in what its owner skipped
    double beam = 25;  ///< alignments less likely than the best one by more are hopeless
    /// The same if operators fit worse than `poor_fit`, and better with this one: more than `jump`,
    /// so that a wrong start is corrected.
    double wide_beam = 35;
    double poor_fit = -0.6;   ///< logarithm of the likelihood for each operator
    double hopeless_fit = -1; ///< the same: then the wide beam is of no use
};

/// Returns: what the operations convert by themselves. Complexity: O(operations + sources).
template <class Lexicon>
[[nodiscard]] captured_conversions find_captured_conversions(const captured_operations& captured,
                                                             const Lexicon& lexicon) {
    captured_conversions program;
    const auto& names = captured.names();
    std::vector<bool> casts; // by name
    for (id n = 0; n < names.size(); ++n) {
        for (const auto* type : {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}) {
            program.quantizes |= lexicon.correspond(names[n], type) >= correspondence::part;
        }
        casts.push_back(lexicon.correspond(names[n], "Cast") == correspondence::head);
    }
    std::vector<bool> read(captured.size(), false);
    for (id i = captured.size(); i-- > 0;) {
        const auto sources = captured.sources_of(i);
        if (casts[captured.names_of(i).front()]) {
            program.casts_inputs |= sources.empty();
            program.casts_results |= !read[i];
        }
        for (auto source : sources) {
            read[source] = true;
        }
    }
    return program;
}

template <class Lexicon>
[[nodiscard]] aligned_items describe_items(const captured_operations& captured,
                                           const string_pool& types, const Lexicon& lexicon,
                                           const alignment_weights& weights) {
    aligned_items items;
    items.is_fused.resize(types.size(), false);
    const auto& names = captured.names();
    std::vector<std::vector<correspondence>> by_name(names.size());
    std::vector<std::vector<bool>> fused_by_name(names.size());
    std::vector<bool> has_head(names.size(), false);
    std::vector<bool> adds(names.size(), false);
    std::vector<bool> multiplies(names.size(), false);
    for (id n = 0; n < names.size(); ++n) {
        for (id t = 0; t < types.size(); ++t) {
            by_name[n].push_back(lexicon.correspond(names[n], plain_type(types[t])));
            fused_by_name[n].push_back(fuses(lexicon, names[n], types[t]));
            has_head[n] = has_head[n] || by_name[n].back() == correspondence::head;
        }
        adds[n] = lexicon.correspond(names[n], "Add") == correspondence::head;
        multiplies[n] = lexicon.correspond(names[n], "Gemm") == correspondence::head;
    }
    // A bias that the program added by itself may have become part of the product.
    const auto may_be_bias = [&](id i) {
        const auto sources = captured.sources_of(i);
        return types.find("Gemm") != no_id && adds[captured.names_of(i).front()] &&
               !captured.parameters_of(i).empty() && sources.size() == 1 &&
               multiplies[captured.names_of(sources.front()).front()];
    };
    std::map<std::vector<id>, id> profiles;
    double total = 0;
    for (id i = 0; i < captured.size(); ++i) {
        const auto own = captured.names_of(i);
        std::vector<id> key(own.begin(), own.end());
        std::sort(key.begin() + 1, key.end());
        key.erase(std::unique(key.begin() + 1, key.end()), key.end());
        const auto [entry, added] = profiles.emplace(key, static_cast<id>(items.table.size()));
        if (added) {
            auto row = by_name[key.front()];
            for (std::size_t k = 1; k < key.size(); ++k) {
                for (id t = 0; t < types.size(); ++t) {
                    auto other = by_name[key[k]][t];
                    if (has_head[key.front()]) {
                        other = std::min(other, correspondence::rare);
                    }
                    row[t] = std::max(row[t], other);
                }
            }
            const auto parts = std::count(row.begin(), row.end(), correspondence::part);
            items.part_costs.push_back(weights.part +
                                       weights.parts * std::log1p(static_cast<double>(parts)));
            bool moves = true;
            for (id t = 0; t < types.size(); ++t) {
                moves =
                    moves && (row[t] != correspondence::head || is_layout(plain_type(types[t])));
            }
            items.moves.push_back(moves);
            items.table.push_back(std::move(row));
            items.fuses.push_back(fused_by_name[key.front()]);
            for (id t = 0; t < types.size(); ++t) {
                items.is_fused[t] = items.is_fused[t] || items.fuses.back()[t];
            }
        }
        auto leaves = lexicon.trail_of(names[own.front()]);
        bool head = has_head[own.front()];
        for (auto n : own) {
            head = head || has_head[n];
        }
        // It may be optional because no operator that stands for it occurs in the model, because it
        // is the same on every run and may have been computed during export, or because it may have
        // been fused into another operator.
        const auto& row = items.table[entry->second];
        bool spared = !head || !captured[i].varies || captured[i].optional || may_be_bias(i);
        for (id t = 0; t < types.size() && !spared; ++t) {
            spared = items.fuses[entry->second][t] && row[t] != correspondence::head;
        }
        leaves = leaves == trail::always && spared ? trail::maybe : leaves;
        const auto shape = types.find("Shape");
        items.of_shapes.push_back(shape != no_id &&
                                  items.table[entry->second][shape] == correspondence::head);
        items.profile.push_back(entry->second);
        items.leaves.push_back(leaves);
        items.skipped.push_back(total);
        total += leaves == trail::always  ? weights.skip_always
                 : leaves == trail::maybe ? weights.skip_maybe
                                          : weights.skip_never;
    }
    items.skipped.push_back(total);
    items.find_sources(captured, [&](id i) { return items.leaves[i] != trail::always; });
    return items;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_ALIGNED_ITEMS_HPP
