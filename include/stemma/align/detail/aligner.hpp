// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_ALIGNER_HPP
#define STEMMA_ALIGN_DETAIL_ALIGNER_HPP

#include <stemma/align/alignment.hpp>
#include <stemma/align/captured_operations.hpp>
#include <stemma/align/detail/aligned_items.hpp>
#include <stemma/align/detail/aligned_nodes.hpp>
#include <stemma/align/detail/alignment_judge.hpp>
#include <stemma/align/detail/alignment_lattice.hpp>
#include <stemma/align/detail/doubt_branch.hpp>
#include <stemma/align/detail/fitted_lattice.hpp>
#include <stemma/align/detail/follow_converted.hpp>
#include <stemma/align/detail/follow_readers.hpp>
#include <stemma/align/detail/join_fused.hpp>
#include <stemma/align/detail/parameter_scores.hpp>
#include <stemma/align/detail/stated_scores.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/detail/parameter_shapes.hpp>
#include <stemma/model/detail/stated_module.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

template <class Ops, class Lexicon>
class aligner {
public:
    aligner(const Ops& ops, run_order order, std::span<const id> ran, const tree_index& modules,
            const captured_operations& captured, const path_mapping& mapping,
            const parameter_shapes& shapes, const Lexicon& lexicon,
            std::span<const stated_module> stated)
        : ops_(ops)
        , modules_(modules)
        , captured_(captured)
        , nodes_(aligned_nodes_finder<Ops>(ops, order, ran,
                                           find_captured_conversions(captured, lexicon))
                     .find())
        , items_(describe_items(captured, nodes_.types, lexicon, weights_))
        , parameters_(ops, captured, mapping, shapes, weights_)
        , stated_(modules, stated, nodes_)
        , item_of_(nodes_.size(), no_id)
        , sure_(nodes_.size(), 0)
        , judge_(nodes_, items_, captured_, parameters_, item_of_) {}

    [[nodiscard]] alignment run() {
        alignment result;
        result.of.resize(num_vertices(ops_.graph()));
        if (nodes_.size() == 0 || captured_.empty()) {
            return result;
        }
        const auto chains = nodes_.by_chain();
        left_out_.resize(captured_.size(), false);
        bodies_.resize(nodes_.size());
        for (id chain = 1; chain < chains.size(); ++chain) {
            if (nodes_.owner_of[chain] != no_id) {
                bodies_[nodes_.owner_of[chain]].push_back(chain);
            }
        }
        align_chain(chains, 0, 0, captured_.size(), 0, result);
        for (id item = 0; item < captured_.size(); ++item) {
            if (items_.leaves[item] == trail::always && !left_out_[item]) {
                ++result.expected;
                result.found += made_head_[item] ? 1U : 0U;
            }
        }
        judge_.excuse_uniform(ops_, result);
        judge_.withdraw_unconfirmed(result);
        fused_joiner(nodes_, items_, captured_, modules_, parameters_, result).run();
        follow_converted(nodes_, items_, result);
        stated_.overrule(nodes_, result);
        follow_readers(ops_, nodes_, stated_, result);
        result.partial = nodes_.partial;
        doubt(result, captured_.faults());
        return result;
    }

private:
    static constexpr std::size_t max_candidates = 64;
    static constexpr std::size_t max_readers = 8;
    static constexpr int max_depth = 6; // a body may be aligned twice at each level

    /// Aligns a chain, then the bodies of its owners, each with what the owner skipped: the
    /// branches of an If are alternatives, and a Loop ran its body any number of times.
    void align_chain(const std::vector<std::vector<id>>& chains, id chain, id first, id last,
                     int depth, alignment& result) {
        const auto& nodes = chains[chain];
        fitted_lattice lattice(nodes_, items_, weights_);
        for (int pass = 0; pass < 3; ++pass) { // the first one without data flow
            lattice.run(
                nodes, first, last,
                [&](id n, id item, bool head) { return score(n, item, head, pass > 0); },
                [&](id n, std::vector<id>& wanted) { add_readers(n, wanted); });
            lattice.for_each_placement(
                [&](id n, std::span<const placement> places) { note(n, places); });
        }
        if (chain == 0) {
            pass_over_missing();
        }
        length_.assign(captured_.size(), 0);
        lattice.for_each_placement(
            [&](id n, std::span<const placement> places) { decide(n, places, result); });
        for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
            hand_over(*n, result);
        }
        made_head_.resize(captured_.size(), false);
        for (auto n : nodes) {
            result.placed += chain == 0 && !nodes_.owns[n] && judge_.is_judged(n) ? 1U : 0U;
            if (const auto item = result.of[nodes_.vertex[n]].operation; item != no_id) {
                const bool again = made_head_[item];
                made_head_[item] = made_head_[item] || fits(n, item) == correspondence::head;
                if (chain == 0) {
                    judge_.judge(n, item, again, result);
                }
            }
        }
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            if (nodes_.owns[nodes[k]] && depth < max_depth) {
                align_bodies(chains, nodes, k, first, last, depth + 1, result);
            }
        }
    }

    /// Lets data flow past operations that rearrange and left nothing: an optimizer moved them.
    void pass_over_missing() {
        std::vector<bool> left(captured_.size(), false);
        for (auto item : item_of_) {
            if (item != no_id) {
                left[item] = true;
            }
        }
        const auto is_moved = [&](id item) {
            return !left[item] && items_.moves[items_.profile[item]] &&
                   items_.leaves[item] == trail::always;
        };
        for (id item = 0; item < captured_.size(); ++item) {
            if (is_moved(item)) {
                items_.find_sources(captured_, [&](id passed) {
                    return items_.leaves[passed] != trail::always || is_moved(passed);
                });
                return;
            }
        }
    }

    /// Unless its name confirms it, moves an operator that fits its operation badly, or which that
    /// of its readers does not read, to that of all its readers, if it fits well or flattens; and
    /// the end of one longer than an identical next.
    void hand_over(id n, alignment& result) {
        auto& entry = result.of[nodes_.vertex[n]];
        if (entry.operation == no_id || nodes_.of_shapes[n] || stated_.confirms(n, entry.module)) {
            return;
        }
        alignment::aligned first;
        bool agreed = true;
        for (auto r : nodes_.readers[n]) {
            const auto& reader = result.of[nodes_.vertex[r]];
            if (!nodes_.of_shapes[r]) {
                agreed &= first.operation == no_id || first.operation == reader.operation;
                first = reader;
            }
        }
        if (!agreed || first.operation == no_id || first.operation == entry.operation ||
            (fits(n, first.operation) < correspondence::part && !nodes_.flattens(n))) {
            return;
        }
        const bool uneven = items_.profile[entry.operation] == items_.profile[first.operation] &&
                            length_[entry.operation] > length_[first.operation] + 1;
        const bool astray = !items_.flows(entry.operation, first.operation);
        if (fits(n, entry.operation) < correspondence::part ||
            (uneven && nodes_.parameters[n].empty()) ||
            (astray && !parameters_.knows_any(nodes_.parameters[n]))) {
            --length_[entry.operation];
            ++length_[first.operation];
            entry = first;
            entry.confidence = std::min(entry.confidence, confidence::aligned_handed);
            item_of_[n] = first.operation;
        }
    }

    void align_bodies(const std::vector<std::vector<id>>& chains, std::span<const id> nodes,
                      std::size_t k, id first, id last, int depth, alignment& result) {
        for (auto i = k; i-- > 0;) {
            const auto inner = used_.find(nodes[i]);
            // Bodies of different owners do not share an operation.
            const auto before =
                inner != used_.end() ? inner->second.second + 1 : item_of_[nodes[i]];
            if (before != no_id) {
                first = std::min(before, last - 1);
                break;
            }
        }
        for (auto i = k + 1; i < nodes.size(); ++i) {
            if (item_of_[nodes[i]] != no_id) {
                last = item_of_[nodes[i]] + 1;
                break;
            }
        }
        last = std::max(first + 1, last);
        for (auto item = first + 1; item + 1 < last; ++item) {
            left_out_[item] = true;
        }
        auto ran = no_id; // the body that ran: the one that fits best, else the first to start
        std::pair<id, id> used{no_id, no_id};
        std::size_t fitting = 0; // of its operators
        for (auto chain : bodies_[nodes[k]]) {
            align_chain(chains, chain, first, last, depth, result);
            const auto here = used_by(chains[chain], result);
            if (here.first == no_id) {
                continue;
            }
            const auto fit = count_fitting(chains[chain], result);
            const auto mine = fit * (ran == no_id ? 1 : chains[ran].size());
            const auto best = fitting * chains[chain].size();
            if (ran == no_id || mine > best || (mine == best && here.first < used.first)) {
                used = here;
                ran = chain;
                fitting = fit;
            }
        }
        if (ran == no_id) {
            return;
        }
        result.inside += chains[ran].size();
        result.fitting_inside += fitting;
        if (fitting * 2 <= chains[ran].size()) { // nothing is claimed if most does not fit
            for (auto chain : bodies_[nodes[k]]) {
                for (auto n : chains[chain]) {
                    result.of[nodes_.vertex[n]] = {};
                    item_of_[n] = no_id;
                }
            }
        } else {
            used_[nodes[k]] = used;
            for (auto chain : bodies_[nodes[k]]) {
                if (chain != ran) {
                    align_chain(chains, chain, used.first, used.second + 1, depth, result);
                    doubt_branch(nodes_, modules_, chains[chain], chains[ran], result);
                }
            }
        }
    }

    /// Returns: the number of a body's operators that fit their operations.
    [[nodiscard]] std::size_t count_fitting(std::span<const id> body,
                                            const alignment& result) const {
        return static_cast<std::size_t>(std::count_if(body.begin(), body.end(), [&](id n) {
            const auto item = result.of[nodes_.vertex[n]].operation;
            return nodes_.owns[n] || (item != no_id && fits(n, item) >= correspondence::part);
        }));
    }

    /// Returns: the first and the last operation that explain operators of a body.
    [[nodiscard]] std::pair<id, id> used_by(std::span<const id> body,
                                            const alignment& result) const {
        std::pair<id, id> used{no_id, no_id};
        for (auto n : body) {
            auto item = result.of[nodes_.vertex[n]].operation;
            auto end = item;
            if (nodes_.owns[n]) {
                const auto inner = used_.find(n);
                item = inner == used_.end() ? no_id : inner->second.first;
                end = inner == used_.end() ? no_id : inner->second.second;
            }
            if (item != no_id) {
                used.first = std::min(used.first, item);
                used.second = used.second == no_id ? end : std::max(used.second, end);
            }
        }
        return used;
    }

    [[nodiscard]] correspondence fits(id n, id item) const {
        return items_.table[items_.profile[item]][nodes_.type[n]];
    }

    /// The bonus for an operator that comes from an operation, and for one that comes from none.
    [[nodiscard]] std::pair<double, double> score(id n, id item, bool head, bool with_flow) const {
        const auto read = nodes_.parameters[n];
        const bool fused = items_.is_fused[nodes_.type[n]];
        double bonus = parameters_.of(read, item, head);
        bonus = fused ? std::max(0.0, bonus) : bonus;
        const bool joins = (head || fused) && !stated_.is_inserted(n);
        bonus -= stated_.against(n, captured_[item].module, joins || !captured_[item].exact);
        const double lost = parameters_.knows_any(read) ? -weights_.unread_parameter : 0;
        if (!with_flow) {
            return {bonus, lost};
        }
        for (auto u : nodes_.producers[n]) {
            if (!nodes_.of_shapes[u] && item_of_[u] != no_id) {
                bonus += items_.flows(item_of_[u], item) ? weights_.flow * sure_[u]
                                                         : -weights_.against_flow * sure_[u];
                bonus -= item_of_[u] == item ? weights_.leak * leaks(u, n) : 0;
            }
        }
        if (!nodes_.of_shapes[n]) {
            for (auto w : nodes_.readers[n]) {
                if (item_of_[w] != no_id) {
                    bonus +=
                        (items_.flows(item, item_of_[w]) ? weights_.flow : -weights_.against_flow) *
                        sure_[w] / static_cast<double>(nodes_.readers[n].size());
                }
            }
        }
        return {bonus, lost};
    }

    /// Returns: the likelihood that another operation reads an operator used by `n`: then it is a
    /// result, and its readers come from elsewhere.
    [[nodiscard]] double leaks(id u, id n) const {
        double most = 0;
        std::size_t seen = 0;
        for (auto w : nodes_.readers[u]) {
            if (w != n && !nodes_.of_shapes[w] && item_of_[w] != no_id &&
                item_of_[w] != item_of_[u]) {
                most = std::max(most, sure_[w]);
            }
            if (++seen == max_readers) {
                break;
            }
        }
        return most;
    }

    /// Operations that read a parameter of the operator by name are candidates from anywhere.
    void add_readers(id n, std::vector<id>& wanted) const {
        for (auto p : nodes_.parameters[n]) {
            const auto readers = parameters_.readers(p);
            const auto some = readers.first(std::min<std::size_t>(readers.size(), max_candidates));
            wanted.insert(wanted.end(), some.begin(), some.end());
        }
    }

    void note(id n, std::span<const placement> places) {
        const auto best = std::max_element(
            places.begin(), places.end(),
            [](const placement& a, const placement& b) { return a.mass < b.mass; });
        item_of_[n] = best == places.end() || nodes_.owns[n] ? no_id : best->item;
        sure_[n] = best == places.end() ? 0 : static_cast<double>(best->mass);
    }

    /// Assigns an operator to the module that most alignments assign it to.
    void decide(id n, std::span<const placement> places, alignment& result) {
        if (nodes_.owns[n]) {
            return; // decided by its bodies
        }
        auto& entry = result.of[nodes_.vertex[n]];
        shares_.clear();
        double lost = 0;
        for (const auto& place : places) {
            if (place.item == no_id) {
                lost += static_cast<double>(place.mass);
                continue;
            }
            const auto module = captured_[place.item].module;
            auto share = std::find_if(shares_.begin(), shares_.end(),
                                      [&](const auto& s) { return s.module == module; });
            if (share == shares_.end()) {
                shares_.push_back({module, place.item, 0, 0});
                share = shares_.end() - 1;
            }
            share->mass += static_cast<double>(place.mass);
            if (place.mass > share->best) {
                share->best = place.mass;
                share->item = place.item;
            }
        }
        const auto best =
            std::max_element(shares_.begin(), shares_.end(),
                             [](const auto& a, const auto& b) { return a.mass < b.mass; });
        if (best != shares_.end() && best->mass >= lost) {
            ++length_[best->item];
            const auto& operation = captured_[best->item];
            const bool fitting = nodes_.of_shapes[n] || fits(n, best->item) >= correspondence::part;
            const auto limit =
                fitting ? (operation.exact ? 0.99 : 0.7) : (operation.exact ? 0.85 : 0.5);
            entry = {best->module, operation.call, best->item,
                     static_cast<float>(std::min(best->mass, limit)), operation.exact};
        }
    }

    struct module_share {
        id module = no_id;
        id item = no_id;
        double mass = 0;
        float best = 0;
    };
    const alignment_weights weights_{};
    const Ops& ops_;
    const tree_index& modules_;
    const captured_operations& captured_;
    aligned_nodes nodes_;
    aligned_items items_;
    parameter_scores parameters_;
    stated_scores stated_;
    std::vector<id> item_of_; // by node: from the last pass
    std::vector<double> sure_;
    alignment_judge judge_;
    std::vector<module_share> shares_;
    std::vector<std::vector<id>> bodies_;  // by owner: the chains of its bodies
    std::map<id, std::pair<id, id>> used_; // by owner: the operations of its bodies
    std::vector<bool> left_out_;           // by operation: it ran in a body
    std::vector<bool> made_head_;          // by operation
    std::vector<id> length_; // by operation: how many operators of the chain come from it
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_ALIGNER_HPP
