// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_NODE_MATCH_HPP
#define STEMMA_COMPARE_DETAIL_NODE_MATCH_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_edge.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A matching of the operators of two graphs: equal ones in the same role.
struct node_match {
    std::vector<id> to_second; ///< by vertex of the first graph; `no_id` for none
    std::vector<id> to_first;  ///< by vertex of the second graph; `no_id` for none
    /// Pairs of changed operators: of equal type, between the same partners, but not equal.
    std::vector<std::pair<id, id>> changed;

    /// Without pairs. Complexity: O(vertices).
    node_match(std::size_t first, std::size_t second)
        : to_second(first, no_id), to_first(second, no_id) {}

    /// Matches two operators.
    void add(id first, id second) {
        to_second[first] = second;
        to_first[second] = first;
    }
};

/// The features of the operators of one graph, as hashes by vertex.
struct matched_graph {
    /// The features.
    const operator_graph* graph = nullptr;
    std::span<const std::uint64_t> type;   ///< the operator
    std::span<const std::uint64_t> label;  ///< operator, attributes, constants other than weights
    std::span<const std::uint64_t> weight; ///< its weights
    std::span<const std::uint64_t> place;  ///< the module; 0 if that has no partner
    std::span<const std::uint64_t> name;   ///< of the first output; 0 for none
    std::span<const char8_t> quiet;        ///< whether to ignore it and its edges
};

/// Returns: the input and the output that an edge connects, as one number.
[[nodiscard]] inline std::uint64_t ports_of(const operator_graph& graph, id edge) {
    return std::uint64_t{graph.property(in_port)[edge]} << 32U | graph.property(out_port)[edge];
}

/// Calls `function(e, f)` for the edges to two operators at the same input.
/// Complexity: O(edges to them), which are in the order of inputs.
template <class Function>
void for_each_same_input(const operator_graph& a, id v, const operator_graph& b, id w,
                         Function function) {
    auto [e, last] = in_edges(v, a);
    auto [f, end] = in_edges(w, b);
    while (e != last && f != end) {
        const auto from = a.property(in_port)[(*e).index];
        const auto to = b.property(in_port)[(*f).index];
        if (from == to) {
            function(*e, *f);
        }
        from <= to ? static_cast<void>(++e) : static_cast<void>(0);
        to <= from ? static_cast<void>(++f) : static_cast<void>(0);
    }
}

/// Matches in rounds of decreasing certainty.
class node_matcher {
public:
    node_matcher(const matched_graph& a, const matched_graph& b, node_match& match)
        : a_(a), b_(b), match_(match) {}

    void run() {
        match_whole_histories(false);
        if (!is_complete()) { // which versions of one model mostly are by now
            match_whole_histories(true);
            match_parts();
        }
    }

private:
    void match_parts() {
        match_in_place(true);
        if (are_names_kept()) {
            match_keys(keys_of(a_, name_in_place), keys_of(b_, name_in_place), true, true);
        }
        match_in_place(false);
        match_keys(keys_of(a_, own_name), keys_of(b_, own_name), true);
        const auto weighted = [](const matched_graph& side, id v) {
            return side.weight[v] == 0 ? 0 : hash_mix(side.label[v], side.weight[v]);
        };
        match_keys(keys_of(a_, weighted), keys_of(b_, weighted), true);
        match_keys(surroundings(a_, far, true, false), surroundings(b_, far, true, false), true);
        spread_from_all(closeness::same_label);
        spread_from_all(closeness::same_type);
    }

    /// Whether no operator of one of the graphs is left.
    [[nodiscard]] bool is_complete() const {
        const auto counted = [](const matched_graph& side) {
            return static_cast<std::size_t>(std::count(side.quiet.begin(), side.quiet.end(), 0));
        };
        return count_ == std::min(counted(a_), counted(b_));
    }

    using keys = std::vector<std::uint64_t>;
    using entry = std::pair<std::uint64_t, id>; // a key and a vertex
    static constexpr std::size_t far = 3;       // steps

    /// Criteria for matching operators next to partners.
    enum class closeness : std::uint8_t {
        same_place, ///< label and place
        same_label, ///< the label, and the place if both have a known one
        same_type,  ///< the same, but attributes may differ: a changed pair
    };

    template <class Key>
    [[nodiscard]] static keys keys_of(const matched_graph& side, Key key) {
        keys result(side.label.size());
        for (id v = 0; v < result.size(); ++v) {
            result[v] = key(side, v);
        }
        return result;
    }

    /// Returns: a hash of the keys of what a vertex reads.
    [[nodiscard]] static std::uint64_t hash_producers(const matched_graph& side, const keys& of,
                                                      id v) {
        std::uint64_t around = 0;
        for (auto [e, last] = in_edges(v, *side.graph); e != last; ++e) {
            const auto from = (*e).source;
            around +=
                side.quiet[from] != 0 ? 0 : hash_mix(of[from], ports_of(*side.graph, (*e).index));
        }
        return around;
    }

    /// Returns: a hash of the keys of what reads a vertex, each plus `salt`.
    [[nodiscard]] static std::uint64_t hash_readers(const matched_graph& side, const keys& of, id v,
                                                    std::uint64_t salt) {
        std::uint64_t around = 0;
        for (auto [e, last] = out_edges(v, *side.graph); e != last; ++e) {
            around += hash_mix(of[(*e).target] + salt, ports_of(*side.graph, (*e).index));
        }
        return around;
    }

    /// Returns: by vertex a hash of its neighbourhood up to that many steps.
    [[nodiscard]] static keys surroundings(const matched_graph& side, std::size_t steps,
                                           bool with_weights, bool placed) {
        auto now = keys_of(side, [&](const matched_graph& s, id v) {
            return hash_mix(hash_mix(s.label[v], placed ? s.place[v] : 0),
                            with_weights ? s.weight[v] : 0);
        });
        keys next(now.size());
        for (std::size_t step = 0; step < steps; ++step) {
            for (id v = 0; v < now.size(); ++v) {
                next[v] =
                    hash_mix(now[v], hash_producers(side, now, v) + hash_readers(side, now, v, 1));
            }
            now.swap(next);
        }
        return now;
    }

    /// Returns: by vertex a hash of everything it is computed from, or everything computed from it.
    /// Requires: edges lead upwards.
    [[nodiscard]] static keys histories(const matched_graph& side, bool backwards, bool placed) {
        auto result = keys_of(side, [&](const matched_graph& s, id v) {
            return hash_mix(hash_mix(s.label[v], placed ? s.place[v] : 0), s.weight[v]);
        });
        const auto count = static_cast<id>(result.size());
        for (id i = 0; i < count; ++i) {
            const auto v = backwards ? i : count - 1 - i;
            result[v] = hash_mix(result[v], backwards ? hash_producers(side, result, v)
                                                      : hash_readers(side, result, v, 0));
        }
        return result;
    }

    /// Matches operators with the same history and the same use.
    void match_whole_histories(bool placed) {
        if (!is_topologically_indexed(*a_.graph) || !is_topologically_indexed(*b_.graph)) {
            return;
        }
        auto a = histories(a_, true, placed);
        auto b = histories(b_, true, placed);
        const auto mix_in = [](keys& to, const keys& more) {
            for (std::size_t v = 0; v < to.size(); ++v) {
                to[v] = hash_mix(to[v], more[v]);
            }
        };
        mix_in(a, histories(a_, false, placed));
        mix_in(b, histories(b_, false, placed));
        match_keys(a, b, false);
    }

    /// Matches operators of a place that have the same surroundings, widest first, and spreads from
    /// them. With `unique`, only surroundings that no other operator there has; otherwise order
    /// tells operators apart.
    void match_in_place(bool unique) {
        spread_from_all(closeness::same_place);
        for (const std::size_t steps : {far, std::size_t{1}, std::size_t{0}}) {
            constexpr int most_rounds = 8;
            auto before = count_ + 1;
            // What is left may be unique then.
            for (int round = 0; round < most_rounds && count_ != before; ++round) {
                before = count_;
                match_around(steps, true, unique);
                match_around(steps, false, unique);
                if (count_ != before) {
                    spread_from_all(closeness::same_place);
                }
            }
        }
    }

    void match_around(std::size_t steps, bool with_weights, bool unique) {
        const auto a = surroundings(a_, steps, with_weights, true);
        const auto b = surroundings(b_, steps, with_weights, true);
        for (id v = 0; !unique && v < std::min(a.size(), b.size()); ++v) {
            if (a[v] == b[v] && may_match(v, v) && a_.place[v] != 0) {
                add(v, v);
            }
        }
        match_keys(a, b, unique, true);
    }

    [[nodiscard]] static std::uint64_t own_name(const matched_graph& side, id v) {
        return side.name[v] == 0 ? 0 : hash_mix(side.label[v], side.name[v]);
    }

    [[nodiscard]] static std::uint64_t name_in_place(const matched_graph& side, id v) {
        return side.name[v] == 0 ? 0 : hash_mix(own_name(side, v), side.place[v]);
    }

    /// Whether partners mostly have the same name, so that names were not just numbered anew.
    [[nodiscard]] bool are_names_kept() const {
        std::size_t same = 0;
        std::size_t other = 0;
        for (id v = 0; v < match_.to_second.size(); ++v) {
            const auto w = match_.to_second[v];
            if (w != no_id && a_.name[v] != 0 && b_.name[w] != 0) {
                ++(a_.name[v] == b_.name[w] ? same : other);
            }
        }
        return same >= 9 * other;
    }

    void add(id v, id w) {
        match_.add(v, w);
        ++count_;
    }

    [[nodiscard]] bool may_match(id v, id w) const {
        return match_.to_second[v] == no_id && match_.to_first[w] == no_id && a_.quiet[v] == 0 &&
               b_.quiet[w] == 0;
    }

    /// Matches operators with equal keys if both graphs have equally many, by name if these have
    /// the same names, else in order; 0 is no key.
    void match_keys(const keys& a, const keys& b, bool single, bool placed = false) {
        const auto open = [&](const keys& key, const matched_graph& side,
                              const std::vector<id>& partner) {
            std::vector<entry> entries;
            for (id v = 0; v < key.size(); ++v) {
                if (partner[v] == no_id && side.quiet[v] == 0 && key[v] != 0 &&
                    (!placed || side.place[v] != 0)) {
                    entries.emplace_back(key[v], v);
                }
            }
            std::sort(entries.begin(), entries.end());
            return entries;
        };
        const auto left = open(a, a_, match_.to_second);
        const auto right = open(b, b_, match_.to_first);
        const auto by_key = [](const entry& x, const entry& y) { return x.first < y.first; };
        auto from = right.begin();
        for (auto i = left.begin(); i != left.end();) {
            const auto mine = std::equal_range(i, left.end(), *i, by_key);
            const auto others = std::equal_range(from, right.end(), *i, by_key);
            const auto count = static_cast<std::size_t>(mine.second - mine.first);
            if (static_cast<std::size_t>(others.second - others.first) == count &&
                (!single || count == 1)) {
                pair_group({&*mine.first, count}, {&*others.first, count});
            }
            i = mine.second;
            from = others.second;
        }
    }

    /// Matches as many operators of either graph that are alike.
    void pair_group(std::span<const entry> left, std::span<const entry> right) {
        const auto sort_by_name = [](const matched_graph& side, std::span<const entry> group,
                                     std::vector<entry>& named) {
            named.clear();
            for (const auto& [key, v] : group) {
                named.emplace_back(side.name[v], v);
            }
            std::sort(named.begin(), named.end());
        };
        if (left.size() > 1) {
            sort_by_name(a_, left, named_in_a_);
            sort_by_name(b_, right, named_in_b_);
            if (std::equal(named_in_a_.begin(), named_in_a_.end(), named_in_b_.begin(),
                           [](const entry& x, const entry& y) { return x.first == y.first; })) {
                left = named_in_a_;
                right = named_in_b_;
            }
        }
        for (std::size_t k = 0; k < left.size(); ++k) {
            add(left[k].second, right[k].second);
        }
    }

    /// Matches neighbours of partners that are unique there by label or type.
    void spread_from_all(closeness how) {
        const bool loosely = how == closeness::same_type;
        std::vector<std::pair<id, id>> open;
        for (id v = 0; v < match_.to_second.size(); ++v) {
            if (match_.to_second[v] != no_id) {
                open.emplace_back(v, match_.to_second[v]);
            }
        }
        std::vector<char8_t> seen_a(loosely ? a_.label.size() : 0, 0);
        std::vector<char8_t> seen_b(loosely ? b_.label.size() : 0, 0);
        const auto meet = [&](id v, id w) {
            const bool fits =
                may_match(v, w) &&
                (loosely ? a_.type[v] == b_.type[w] && seen_a[v] == 0 && seen_b[w] == 0
                         : a_.label[v] == b_.label[w]) &&
                (how == closeness::same_place
                     ? a_.place[v] == b_.place[w] && a_.place[v] != 0
                     : a_.place[v] == b_.place[w] || a_.place[v] == 0 || b_.place[w] == 0 ||
                           (a_.name[v] == b_.name[w] && a_.name[v] != 0));
            if (fits && loosely) {
                seen_a[v] = seen_b[w] = 1;
                match_.changed.emplace_back(v, w);
            } else if (fits) {
                add(v, w);
                open.emplace_back(v, w);
            }
        };
        while (!open.empty()) {
            const auto [v, w] = open.back();
            open.pop_back();
            for_each_same_input(*a_.graph, v, *b_.graph, w, [&](const auto& e, const auto& f) {
                if (a_.graph->property(in_port)[e.index] != no_id) {
                    meet(e.source, f.source);
                }
            });
            meet_readers(v, w, loosely, meet);
        }
        std::sort(match_.changed.begin(), match_.changed.end());
    }

    template <class Meet>
    void meet_readers(id v, id w, bool loosely, const Meet& meet) const {
        const auto readers = [&](const matched_graph& side, id of, const std::vector<id>& partner) {
            std::vector<entry> entries;
            for (auto [e, last] = out_edges(of, *side.graph); e != last; ++e) {
                const auto reader = (*e).target;
                if (partner[reader] == no_id && side.quiet[reader] == 0) {
                    entries.emplace_back(hash_mix(loosely ? side.type[reader] : side.label[reader],
                                                  ports_of(*side.graph, (*e).index)),
                                         reader);
                }
            }
            std::sort(entries.begin(), entries.end());
            return entries;
        };
        const auto left = readers(a_, v, match_.to_second);
        if (left.empty()) {
            return;
        }
        const auto right = readers(b_, w, match_.to_first);
        const auto is_single = [](const std::vector<entry>& all, std::size_t i) {
            return (i == 0 || all[i - 1].first != all[i].first) &&
                   (i + 1 == all.size() || all[i + 1].first != all[i].first);
        };
        for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
            if (left[i].first == right[j].first && is_single(left, i) && is_single(right, j)) {
                meet(left[i].second, right[j].second);
            }
            const auto key = left[i].first;
            i += left[i].first <= right[j].first ? 1U : 0U;
            j += right[j].first <= key ? 1U : 0U;
        }
    }

    const matched_graph& a_;
    const matched_graph& b_;
    node_match& match_;
    std::size_t count_ = 0;         // of matches made here
    std::vector<entry> named_in_a_; // of the group being paired: names and vertices
    std::vector<entry> named_in_b_;
};

/// Matches the operators of two graphs.
///  Partners have the same function; whether they have the same inputs follows from the partners of
/// their producers. Existing pairs in `match` stay, so callers can provide known ones. Operators in
/// unmatched places are only matched by the name of their results.
/// Complexity: O((V + E) log V).
inline void match_nodes(const matched_graph& a, const matched_graph& b, node_match& match) {
    node_matcher(a, b, match).run();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_NODE_MATCH_HPP
