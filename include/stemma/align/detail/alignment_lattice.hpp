// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_ALIGNMENT_LATTICE_HPP
#define STEMMA_ALIGN_DETAIL_ALIGNMENT_LATTICE_HPP

#include <stemma/align/detail/aligned_items.hpp>
#include <stemma/align/detail/aligned_nodes.hpp>
#include <stemma/align/detail/log_sum.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The operation at a position of an alignment, and what it has produced so far.
struct lattice_state {
    id item = no_id;
    std::uint8_t phase = 0; ///< 0: no head yet, 1: a head, 2: in a stretch that is not explained

    friend auto operator<=>(const lattice_state&, const lattice_state&) = default;
};

/// How likely an operator comes from an operation.
struct placement {
    id item = no_id; ///< `no_id`: from none
    float mass = 0;
};

/// Sums over all monotone alignments of a sequence of operators with a sequence of operations, each
/// of which produces any number of operators (a hidden Markov model; forward-backward algorithm),
/// except those hopeless compared with the best one.
///
/// `score(node, item, head)` is the contribution of data flow and parameters. Complexity: O(nodes *
/// width of the beam).
class alignment_lattice {
public:
    alignment_lattice(const aligned_nodes& nodes, const aligned_items& items,
                      const alignment_weights& weights)
        : nodes_(nodes), items_(items), weights_(weights) {}

    /// Aligns the operators of one chain with the operations in [first, last). Alignments count as
    /// hopeless if they are less likely than the best one by more than `beam`, a logarithm.
    ///
    /// Returns: the logarithm of the likelihood of all others, up to a constant.
    template <class Score, class Candidates>
    double run(std::span<const id> chain, id first, id last, double beam, Score score,
               Candidates candidates) {
        beam_ = beam;
        fit_ = 0;
        chain_ = chain;
        first_ = first;
        last_ = last;
        inside_ = first > 0 || last < items_.profile.size();
        states_.clear();
        begins_.assign(1, 0);
        for (id k = 0; k < chain_.size(); ++k) {
            step(k, score, candidates);
        }
        run_backward();
        return fit_;
    }

    /// Calls `f(node, placements)` for every operator.
    template <class Function>
    void for_each_placement(Function f) const {
        std::vector<placement> placements;
        for (id k = 0; k < chain_.size(); ++k) {
            const auto n = chain_[k];
            placements.clear();
            for (auto i = begins_[k]; i < begins_[k + 1]; ++i) {
                const auto& s = states_[i];
                const bool lost = s.at.phase == 2;
                if (s.mass < 1e-4F) {
                    continue;
                }
                if (!placements.empty() && !lost && placements.back().item == s.at.item) {
                    placements.back().mass += s.mass;
                } else {
                    placements.push_back({lost ? no_id : s.at.item, s.mass});
                }
            }
            f(n, std::span<const placement>(placements));
        }
    }

private:
    struct entry {
        lattice_state at;
        bool head = false; ///< the operator is a head
        float forward = 0; ///< logarithm, relative to the best at this step
        float score = 0;   ///< score of producing the operator here
        float mass = 0;
    };

    static constexpr double none = -std::numeric_limits<double>::infinity();
    static constexpr std::size_t max_width = 160;
    static constexpr std::size_t max_owner_width = 1024;

    [[nodiscard]] double leaving(const lattice_state& s) const {
        if (s.phase != 0) {
            return 0;
        }
        switch (items_.leaves[s.item]) {
        case trail::always:
            return weights_.headless;
        case trail::maybe:
            return weights_.skip_maybe;
        default:
            return weights_.skip_never;
        }
    }

    /// The cost of skipping the operations between `from` and `to`.
    [[nodiscard]] double skipping(id from, id to) const {
        return items_.skipped[to] - items_.skipped[from + 1];
    }

    template <class Score>
    void consider(id n, id item, double stay0, double stay1, double stay2, double arrive,
                  bool starts, Score& score) {
        const auto fits = items_.table[items_.profile[item]][nodes_.type[n]];
        const bool head = fits == correspondence::head;
        const bool shapes = nodes_.of_shapes[n];
        double gain = 0;
        switch (fits) {
        case correspondence::head:
            break;
        case correspondence::part:
            gain -= items_.part_costs[items_.profile[item]];
            break;
        case correspondence::rare:
            gain -= weights_.rare;
            break;
        case correspondence::plumbing:
            gain -= weights_.plumbing;
            break;
        default:
            gain -= shapes ? weights_.plumbing + weights_.part : weights_.foreign;
        }
        const auto early = shapes && fits >= correspondence::part ? 0 : weights_.early;
        const auto late = !shapes || items_.of_shapes[item] ? 0
                          : fits >= correspondence::part    ? weights_.late_part
                                                            : weights_.late;
        const auto repeated = shapes ? 0 : weights_.repeated;
        if (items_.leaves[item] == trail::never) {
            gain -= weights_.silent;
        }
        const auto evidence = score(n, item, head);
        gain += evidence.first;
        const auto lost = -weights_.unexplained + evidence.second;
        if (head) {
            put(item, 1, true, log_sum(log_sum(stay0, arrive), stay1 - repeated), gain);
        } else {
            put(item, 0, false, log_sum(stay0, arrive), gain - early);
            put(item, 1, false, stay1, gain - late);
        }
        const auto left0 = items_.leaves[item] == trail::always ? weights_.headless : 0;
        const auto start = starts ? arrive : none;
        put(item, 2, false,
            log_sum(stay2, log_sum(log_sum(stay0 - left0, stay1), start) - weights_.lost), lost);
    }

    void put(id item, std::uint8_t phase, bool head, double reached, double score) {
        if (!std::isinf(reached)) {
            next_.push_back({{item, phase}, head, static_cast<float>(score), reached + score});
        }
    }

    template <class Score, class Candidates>
    void step(id k, Score& score, Candidates& candidates) {
        next_.clear();
        const auto n = chain_[k];
        const auto first = k == 0 ? states_.size() : begins_[k - 1];
        const auto last = states_.size();
        if (nodes_.owns[n]) {
            pass_owner(first, last);
            keep_best(max_owner_width);
            return;
        }
        wanted_.clear();
        if (k == 0) {
            add_reachable(first_, first_, beam_);
        } else if (first != last) {
            // Operations behind the best state that no other one is at are hopeless.
            const auto best = std::max_element(
                states_.begin() + static_cast<std::ptrdiff_t>(first), states_.end(),
                [](const entry& a, const entry& b) { return a.forward < b.forward; });
            auto end = best->at.item + 1;
            for (auto i = first; i < last; ++i) {
                const auto& from = states_[i];
                wanted_.push_back(from.at.item);
                end = add_reachable(from.at.item + 1, end, beam_ + from.forward - leaving(from.at));
            }
        }
        candidates(n, wanted_);
        std::erase_if(wanted_, [&](id item) { return item < first_ || item >= last_; });
        wanted_ = range::each_once(std::move(wanted_));
        // Earlier ones, including what was skipped from the start.
        double passed = k == 0 ? items_.skipped[first_] : none;
        double furthest = k == 0 ? 0 : none; // the best of them
        auto i = first;
        for (auto item : wanted_) {
            for (; i < last && states_[i].at.item < item; ++i) {
                const auto remaining = states_[i].forward - leaving(states_[i].at);
                passed = log_sum(passed, remaining + items_.skipped[states_[i].at.item + 1]);
                furthest = std::max(furthest, remaining);
            }
            double stay[3] = {none, none, none};
            for (auto j = i; j < last && states_[j].at.item == item; ++j) {
                stay[states_[j].at.phase] = states_[j].forward;
            }
            // Jumping back would violate the order; jumping forward costs at most `jump`, and where
            // a body starts among what its owner skipped is anybody's guess.
            const auto jump = k == 0 && inside_ ? weights_.entry : weights_.jump;
            const auto arrive = std::isinf(passed)
                                    ? none
                                    : std::max(passed - items_.skipped[item], furthest - jump);
            consider(n, item, stay[0], stay[1], stay[2], arrive, k == 0, score);
        }
        keep_best(max_width);
    }

    /// Any operation not too far ahead may follow an owner of bodies.
    void pass_owner(std::size_t first, std::size_t last) {
        double best = first == last ? 0 : none;
        auto item = first == last ? first_ : states_[first].at.item;
        const auto end = std::min<std::size_t>(
            last_, (first == last ? first_ : states_[last - 1].at.item) + max_owner_width / 2);
        double since = 0;
        for (auto i = first; item < end; ++item, ++since) {
            for (; i < last && states_[i].at.item == item; ++i) {
                const auto remaining = states_[i].forward - leaving(states_[i].at);
                since = remaining > best ? 0 : since;
                best = std::max(best, remaining);
            }
            put(item, 2, false, best - owner_cost(since), 0);
        }
    }

    [[nodiscard]] double owner_cost(double distance) const {
        return weights_.owner + std::log1p(distance) / 2;
    }

    /// Adds the operations not before `end` that a state reaches by skipping those from `from` on.
    /// Returns: their end.
    id add_reachable(id from, id end, double reach) {
        const auto last = std::min<std::size_t>(last_, from + 4 * max_width);
        for (end = std::max(end, from);
             end < last && items_.skipped[end] - items_.skipped[from] <= reach; ++end) {
            wanted_.push_back(end);
        }
        return end;
    }

    void keep_best(std::size_t width) {
        double best = none;
        for (const auto& s : next_) {
            best = std::max(best, s.reached);
        }
        fit_ += next_.empty() ? 0 : best;
        auto limit = best - beam_;
        if (next_.size() > width) {
            values_.clear();
            for (const auto& s : next_) {
                values_.push_back(s.reached);
            }
            std::nth_element(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(width),
                             values_.end(), std::greater<>());
            limit = std::max(limit, values_[width]);
        }
        for (const auto& s : next_) {
            if (s.reached >= limit) {
                states_.push_back({s.at, s.head, static_cast<float>(s.reached - best), s.score, 0});
            }
        }
        begins_.push_back(states_.size());
    }

    /// Turns the forward weights into shares of all alignments, from the end to the start.
    void run_backward() {
        const auto count = static_cast<id>(chain_.size());
        if (count == 0) {
            return;
        }
        std::vector<double> after;  // by state of the step
        std::vector<double> before; // the same, one step earlier
        const auto jump = inside_ ? weights_.entry : weights_.jump;
        for (auto k = count; k-- > 0;) {
            const auto first = begins_[k];
            const auto last = begins_[k + 1];
            if (k + 1 == count) {
                after.assign(last - first, 0);
                for (auto i = first; i < last; ++i) {
                    const auto& s = states_[i].at;
                    after[i - first] = -leaving(s) - std::min(skipping(s.item, last_), jump);
                }
            }
            double total = none;
            for (auto i = first; i < last; ++i) {
                total = log_sum(total, states_[i].forward + after[i - first]);
            }
            fit_ += k + 1 == count && first != last ? total : 0;
            for (auto i = first; i < last; ++i) {
                states_[i].mass =
                    static_cast<float>(std::exp(states_[i].forward + after[i - first] - total));
            }
            if (k > 0) {
                again_ = nodes_.of_shapes[chain_[k]] ? 0 : weights_.repeated;
                if (nodes_.owns[chain_[k]]) {
                    go_back_over_owner(begins_[k - 1], first, last, after, before);
                } else {
                    go_back(begins_[k - 1], first, last, after, before);
                }
                std::swap(after, before);
            }
        }
    }

    /// Computes the continuation weights of each state of a step from those of the next step.
    void go_back(std::size_t first, std::size_t middle, std::size_t last,
                 const std::vector<double>& after, std::vector<double>& before) const {
        before.assign(middle - first, none);
        double passed = none;   // later ones, with what is skipped up to them
        double furthest = none; // the best of them
        auto k = last;
        for (auto i = middle; i-- > first;) {
            const auto& s = states_[i].at;
            for (; k > middle && states_[k - 1].at.item > s.item; --k) {
                const auto& t = states_[k - 1];
                const auto value = after[k - 1 - middle] + t.score;
                if (arrives(t)) {
                    passed = log_sum(passed, value - items_.skipped[t.at.item]);
                    furthest = std::max(furthest, value);
                }
            }
            auto value = std::max(passed + items_.skipped[s.item + 1], furthest - weights_.jump) -
                         leaving(s);
            for (auto j = k; j > middle && states_[j - 1].at.item == s.item; --j) {
                const auto& t = states_[j - 1];
                if (const auto gain = staying(s, t); !std::isinf(gain)) {
                    value = log_sum(value, after[j - 1 - middle] + t.score + gain);
                }
            }
            before[i - first] = value;
        }
    }

    void go_back_over_owner(std::size_t first, std::size_t middle, std::size_t last,
                            const std::vector<double>& after, std::vector<double>& before) {
        before.assign(middle - first, none);
        for (auto i = first; i < middle; ++i) {
            auto& best = before[i - first];
            for (auto j = last; j > middle && states_[j - 1].at.item >= states_[i].at.item; --j) {
                const auto distance = states_[j - 1].at.item - states_[i].at.item;
                while (owner_costs_.size() <= distance) {
                    owner_costs_.push_back(owner_cost(static_cast<double>(owner_costs_.size())));
                }
                best = std::max(best, after[j - 1 - middle] - owner_costs_[distance]);
            }
            best -= leaving(states_[i].at);
        }
    }

    /// An unexplained stretch begins after an operation, not on arrival at it; arriving by a head
    /// leads to phase 1, by anything else to phase 0.
    [[nodiscard]] static bool arrives(const entry& to) { return to.at.phase == (to.head ? 1 : 0); }

    [[nodiscard]] double staying(const lattice_state& from, const entry& to) const {
        if (to.at.phase == 2) {
            const auto left0 = from.phase == 0 && items_.leaves[from.item] == trail::always
                                   ? weights_.headless
                                   : 0;
            return from.phase == 2 ? 0 : -weights_.lost - left0;
        }
        if (from.phase == 2) {
            return none;
        }
        if (to.head) {
            return from.phase == 1 ? -again_ : 0;
        }
        return from.phase == to.at.phase ? 0 : none;
    }

    struct candidate {
        lattice_state at;
        bool head = false;
        float score = 0;
        double reached = 0;
    };

    const aligned_nodes& nodes_;
    const aligned_items& items_;
    const alignment_weights& weights_;
    std::span<const id> chain_;
    id first_ = 0; // the operations that may be placed
    id last_ = 0;
    bool inside_ = false; // in the body of an owner
    double beam_ = 0;
    double fit_ = 0;
    std::vector<entry> states_;
    std::vector<std::size_t> begins_;
    std::vector<candidate> next_;
    std::vector<id> wanted_;
    std::vector<double> values_;
    std::vector<double> owner_costs_; // by distance
    double again_ = 0;                // cost of a second head at the step being left
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_ALIGNMENT_LATTICE_HPP
