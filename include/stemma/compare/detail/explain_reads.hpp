// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_EXPLAIN_READS_HPP
#define STEMMA_COMPARE_DETAIL_EXPLAIN_READS_HPP

#include <stemma/compare/detail/changed_reads.hpp>
#include <stemma/compare/detail/compared_model.hpp>
#include <stemma/compare/detail/module_pairs.hpp>
#include <stemma/compare/detail/node_match.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Which of some modules compute from the results of which others.
class module_reach {
public:
    /// Requires: the modules have operators, and none is below another.
    /// Complexity: O(modules / 64 * (V + E)) of the nodes from their first to their last one.
    module_reach(const compared_model& side, const std::vector<id>& modules)
        : words_((modules.size() + bits - 1) / bits), reach_(modules.size() * words_, 0) {
        std::vector<std::pair<id, id>> sorted;
        id first = no_id;
        id end = 0;
        for (id i = 0; i < modules.size(); ++i) {
            sorted.emplace_back(modules[i], i);
            first = std::min(first, side.first_node(modules[i]));
            end = std::max(end, side.last_node(modules[i]) + 1);
        }
        if (modules.empty()) {
            return;
        }
        std::sort(sorted.begin(), sorted.end());
        std::vector<id> number(end - first, no_id); // by node
        for (id v = first; v < end; ++v) {
            const auto m = side.module_of(v);
            const auto after = std::upper_bound(sorted.begin(), sorted.end(), std::pair(m, no_id));
            if (after != sorted.begin() &&
                side.modules().index().is_ancestor((after - 1)->first, m)) {
                number[v - first] = (after - 1)->second;
            }
        }
        for (std::size_t word = 0; word < words_; ++word) {
            spread(side.graph(), first, number, word);
        }
    }

    /// Whether module number `to` computes from the results of number `from`.
    [[nodiscard]] bool reaches(id from, id to) const {
        return (reach_[to * words_ + from / bits] >> from % bits & 1U) != 0;
    }

private:
    static constexpr std::size_t bits = 64;

    /// Of one word of the numbers, notes those that each module computes from.
    void spread(const operator_graph& graph, id first, const std::vector<id>& number,
                std::size_t word) {
        std::vector<std::uint64_t> sources(number.size(), 0);
        for (id i = 0; i < number.size(); ++i) {
            std::uint64_t all = 0;
            for (auto [e, last] = in_edges(first + i, graph); e != last; ++e) {
                if ((*e).source >= first && (*e).source < first + i) {
                    all |= sources[(*e).source - first];
                }
            }
            if (const auto own = number[i]; own != no_id) {
                reach_[own * words_ + word] |= all;
                all |= own / bits == word ? std::uint64_t{1} << own % bits : 0;
            }
            sources[i] = all;
        }
    }

    std::size_t words_;
    std::vector<std::uint64_t> reach_; // by module: numbers that it computes from, as bits
};

/// The execution rank of a module in two models.
struct module_run {
    id before = 0; ///< rank in the first model
    id after = 0;  ///< rank in the second model
    id module = 0; ///< the module
};

/// Returns: a minimal set of modules that explains the new order; both of two swapped neighbours.
/// In the order of the first model.
/// Complexity: O(modules log modules).
[[nodiscard]] inline std::vector<id> find_reordered(std::vector<module_run> runs) {
    range::sort(runs, [](const module_run& x, const module_run& y) { return x.before < y.before; });
    // The longest increasing subsequence stays.
    std::vector<id> ends;                         // by length: the end of the best one
    std::vector<id> previous(runs.size(), no_id); // in the sequence
    for (id i = 0; i < runs.size(); ++i) {
        const auto at = std::lower_bound(ends.begin(), ends.end(), i,
                                         [&](id x, id y) { return runs[x].after < runs[y].after; });
        previous[i] = at == ends.begin() ? no_id : *(at - 1);
        at == ends.end() ? ends.push_back(i) : static_cast<void>(*at = i);
    }
    std::vector<bool> stays(runs.size(), false);
    for (auto i = ends.empty() ? no_id : ends.back(); i != no_id; i = previous[i]) {
        stays[i] = true;
    }
    std::vector<id> ranks; // in the second model
    for (const auto& each : runs) {
        ranks.push_back(each.after);
    }
    range::sort(ranks);
    // Of two swapped modules, either may have moved.
    std::vector<bool> moves(runs.size(), false);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (stays[i]) {
            continue;
        }
        moves[i] = true;
        const bool alone = (i == 0 || stays[i - 1]) && (i + 1 == runs.size() || stays[i + 1]);
        for (const auto other : {i - 1, i + 1}) {
            if (!alone || other >= runs.size() ||
                (runs[other].after < runs[i].after) == (other < i)) {
                continue;
            }
            // Nothing runs between them, in either model.
            const auto low = std::min(runs[i].after, runs[other].after);
            const auto high = std::max(runs[i].after, runs[other].after);
            moves[other] = moves[other] || std::upper_bound(ranks.begin(), ranks.end(), low) >=
                                               std::lower_bound(ranks.begin(), ranks.end(), high);
        }
    }
    std::vector<id> moved;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (moves[i]) {
            moved.push_back(runs[i].module);
        }
    }
    return moved;
}

/// Why partners read something else.
struct explained_reads {
    std::vector<id> moved;             ///< modules of the first model that run in another order
    std::vector<changed_read> rewired; ///< reads that this does not explain
};

/// Explains changed reads by modules that run in another order, where data flow was reversed.
class read_explainer {
public:
    /// Requires: all outlive this.
    read_explainer(const compared_model& a, const compared_model& b, const module_pairs& pairs,
                   const node_match& match)
        : a_(a), b_(b), pairs_(pairs), match_(match), is_moved_(a.modules().size(), false) {}

    [[nodiscard]] explained_reads run(const std::vector<changed_read>& reads) {
        std::map<id, std::vector<id>> involved; // by the innermost common module
        for (const auto& read : reads) {
            note_involved(read, involved);
        }
        explained_reads result;
        for (auto& [around, modules] : involved) {
            modules = range::each_once(std::move(modules));
            for (auto m : find_moved(modules)) {
                is_moved_[m] = true;
                result.moved.push_back(m);
            }
        }
        for (const auto& read : reads) {
            if (result.moved.empty() || !is_explained(read)) {
                result.rewired.push_back(read);
            }
        }
        return result;
    }

private:
    static constexpr std::size_t max_modules = 2048; // of which every pair is looked at

    void note_involved(const changed_read& read, std::map<id, std::vector<id>>& involved) const {
        if (read.before == no_id || read.after == no_id) {
            return;
        }
        const auto& tree = a_.modules().index();
        const auto after = match_.to_first[read.after];
        const auto reader = read.reader == no_id ? after : read.reader;
        const auto around = tree.lca(a_.module_of(reader), a_.module_of(read.before));
        for (auto node : {reader, read.before, after}) {
            const auto m = a_.module_of(node);
            if (m != around && tree.is_ancestor(around, m)) {
                involved[around].push_back(tree.child_towards(around, m));
            }
        }
    }

    /// Returns: a minimal set of some siblings that explains why data flows the other way; of very
    /// many, why their operators are in a different order.
    [[nodiscard]] std::vector<id> find_moved(std::vector<id> modules) const {
        std::erase_if(modules, [&](id m) {
            const auto n = pairs_.to_second[m];
            return n == no_id || a_.first_node(m) == no_id || b_.first_node(n) == no_id;
        });
        std::vector<id> partners;
        for (auto m : modules) {
            partners.push_back(pairs_.to_second[m]);
        }
        std::vector<module_run> runs;
        if (modules.size() > max_modules) {
            for (id i = 0; i < modules.size(); ++i) {
                runs.push_back({a_.first_node(modules[i]), b_.first_node(partners[i]), modules[i]});
            }
            return find_reordered(std::move(runs));
        }
        const module_reach before(a_, modules);
        const module_reach after(b_, partners);
        const auto only = [](const module_reach& reach, id from, id to) {
            return reach.reaches(from, to) && !reach.reaches(to, from);
        };
        std::vector<bool> reversed(modules.size(), false);
        for (id i = 0; i < modules.size(); ++i) {
            for (id j = 0; j < modules.size(); ++j) {
                if (only(before, i, j) && only(after, j, i)) {
                    reversed[i] = reversed[j] = true;
                }
            }
        }
        const auto rank_before = ranks(a_, modules, before, reversed);
        const auto rank_after = ranks(b_, partners, after, reversed);
        for (id i = 0; i < modules.size(); ++i) {
            if (reversed[i]) {
                runs.push_back({rank_before[i], rank_after[i], modules[i]});
            }
        }
        return find_reordered(std::move(runs));
    }

    /// Returns: by module, its place among the chosen ones: what computes from more of them comes
    /// later.
    [[nodiscard]] static std::vector<id> ranks(const compared_model& side,
                                               const std::vector<id>& modules,
                                               const module_reach& reach,
                                               const std::vector<bool>& chosen) {
        std::vector<std::tuple<std::size_t, id, id>> places;
        for (id i = 0; i < modules.size(); ++i) {
            std::size_t sources = 0;
            for (id j = 0; chosen[i] && j < modules.size(); ++j) {
                sources += chosen[j] && j != i && reach.reaches(j, i) ? 1U : 0U;
            }
            places.emplace_back(sources, side.first_node(modules[i]), i);
        }
        std::sort(places.begin(), places.end());
        std::vector<id> rank(modules.size());
        for (id i = 0; i < places.size(); ++i) {
            rank[std::get<2>(places[i])] = i;
        }
        return rank;
    }

    /// Whether a node is in a module that moved and does not contain another node.
    [[nodiscard]] bool moved_apart(id node, id other) const {
        const auto& tree = a_.modules().index();
        for (auto m = a_.module_of(node); m != 0; m = tree.parent(m)) {
            if (other != no_id && tree.is_ancestor(m, a_.module_of(other))) {
                return false;
            }
            if (is_moved_[m]) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] bool is_explained(const changed_read& read) const {
        if (read.before == no_id || read.after == no_id) {
            return false;
        }
        const auto after = match_.to_first[read.after];
        if ((read.reader != no_id && moved_apart(read.reader, read.before)) ||
            moved_apart(after, read.reader)) {
            return true;
        }
        // What a module read that is gone from here is read instead.
        const auto readers = a_.graph().readers(after);
        return moved_apart(read.before, read.reader) &&
               std::any_of(readers.begin(), readers.end(),
                           [&](id reader) { return moved_apart(reader, after); });
    }

    const compared_model& a_;
    const compared_model& b_;
    const module_pairs& pairs_;
    const node_match& match_;
    std::vector<bool> is_moved_; // by module of the first model
};

/// Explains the changed reads of two models.
/// Complexity: for the modules around each, that of `module_reach`, and O(modules^2).
[[nodiscard]] inline explained_reads explain_reads(const compared_model& a, const compared_model& b,
                                                   const module_pairs& pairs,
                                                   const node_match& match,
                                                   const std::vector<changed_read>& reads) {
    return read_explainer(a, b, pairs, match).run(reads);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_EXPLAIN_READS_HPP
