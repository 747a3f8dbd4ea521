// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_ACYCLIC_PARTS_HPP
#define STEMMA_FOLD_DETAIL_ACYCLIC_PARTS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/strong_components.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The edges between some vertices of a graph, each identified by its position among them.
struct induced_edges {
    std::vector<id> first;   ///< by position, plus end: the first of its readers
    std::vector<id> readers; ///< positions, grouped by producer, one per edge

    /// Returns: the readers of the vertex at `place`, repeated for parallel edges.
    [[nodiscard]] std::span<const id> of(id place) const noexcept {
        return std::span(readers).subspan(first[place], first[place + 1] - first[place]);
    }

    /// Returns: the number of vertices.
    [[nodiscard]] id size() const noexcept { return static_cast<id>(first.size() - 1); }
};

/// Finds the edges between some vertices.
///
/// `place` is scratch space by vertex index, all `no_id` before and after.
/// Complexity: O(members and their edges).
template <operator_graph_like Graph>
[[nodiscard]] induced_edges find_induced_edges(const Graph& graph,
                                               std::span<const vertex_t<Graph>> members,
                                               std::vector<id>& place) {
    induced_edges result;
    result.first.reserve(members.size() + 1);
    result.readers.reserve(members.size());
    for (id i = 0; i < members.size(); ++i) {
        place[index_of(graph, members[i])] = i;
    }
    for (const auto& v : members) {
        result.first.push_back(static_cast<id>(result.readers.size()));
        for (auto [it, last] = out_edges(v, graph); it != last; ++it) {
            if (const auto to = place[index_of(graph, target(*it, graph))]; to != no_id) {
                result.readers.push_back(to);
            }
        }
    }
    result.first.push_back(static_cast<id>(result.readers.size()));
    for (const auto& v : members) {
        place[index_of(graph, v)] = no_id;
    }
    return result;
}

/// Divides groups of positions. Groups are contracted to a node each; groups on a cycle of that
/// graph are scheduled, and what runs without interruption becomes a part.
class part_divider {
public:
    part_divider(const induced_edges& edges, std::span<const id> group)
        : edges_(edges), unit_(group.begin(), group.end()), part_(group.size(), no_id) {
        id units = 0;
        for (auto g : group) {
            units = g == no_id ? units : std::max(units, g + 1);
        }
        groups_ = units;
        for (auto& unit : unit_) {
            unit = unit == no_id ? units++ : unit;
        }
        places_ = grouped_ids(units, [&](auto take) {
            for (id i = 0; i < unit_.size(); ++i) {
                take(unit_[i], i);
            }
        });
    }

    [[nodiscard]] std::vector<id> divide() && {
        knot_ = find_strong_components(between_units());
        const auto units = static_cast<id>(knot_.size());
        const grouped_ids members(units, [&](auto take) {
            for (id u = 0; u < units; ++u) {
                take(knot_[u], u);
            }
        });
        for (id knot = 0; knot < units; ++knot) {
            divide(members[knot], knot);
        }
        return std::move(part_);
    }

private:
    [[nodiscard]] bool is_group(id unit) const noexcept { return unit < groups_; }

    [[nodiscard]] operator_graph between_units() const {
        std::vector<operator_edge> between;
        for (id i = 0; i < unit_.size(); ++i) {
            for (auto to : edges_.of(i)) {
                if (unit_[to] != unit_[i]) {
                    between.push_back({unit_[i], unit_[to]});
                }
            }
        }
        return {places_.size(), between};
    }

    /// `knot` is a strong component of units; usually it has one.
    void divide(std::span<const id> knot, id number) {
        if (knot.size() > 1) {
            schedule(knot, number);
        } else if (knot.size() == 1 && is_group(knot.front()) && !places_[knot.front()].empty()) {
            for (auto place : places_[knot.front()]) {
                part_[place] = parts_;
            }
            ++parts_;
        }
    }

    /// Runs the units of a knot: preferably one that can run to its end, otherwise the first group
    /// that can start, as far as possible.
    void schedule(std::span<const id> knot, id number) {
        std::vector<id> all;
        for (auto unit : knot) {
            all.insert(all.end(), places_[unit].begin(), places_[unit].end());
        }
        std::sort(all.begin(), all.end());
        waiting_.resize(unit_.size(), 0);
        pending_.resize(knot_.size(), 0); // by unit, like `knot_`
        ready_.resize(knot_.size());
        for (auto place : all) {
            for (auto to : edges_.of(place)) {
                if (knot_[unit_[to]] == number) {
                    ++waiting_[to];
                    pending_[unit_[to]] += unit_[to] == unit_[place] ? 0U : 1U;
                }
            }
        }
        for (auto place : all) {
            if (waiting_[place] == 0) {
                make_ready(place);
            }
        }
        while (true) {
            const auto unit = next_unit();
            if (unit == no_id) {
                break;
            }
            run(unit, number);
        }
    }

    void make_ready(id place) {
        const auto unit = unit_[place];
        ready_[unit].push_back(place);
        pending_[unit] == 0 ? complete_.push_back(unit) : startable_.emplace(place, unit);
    }

    [[nodiscard]] id next_unit() {
        while (!complete_.empty()) {
            const auto unit = complete_.front();
            complete_.pop_front();
            if (!ready_[unit].empty()) {
                return unit;
            }
        }
        while (!startable_.empty()) {
            const auto unit = startable_.top().second;
            startable_.pop();
            if (!ready_[unit].empty()) {
                return unit;
            }
        }
        return no_id;
    }

    void run(id unit, id number) {
        auto& ready = ready_[unit];
        while (!ready.empty()) {
            const auto place = ready.back();
            ready.pop_back();
            if (is_group(unit)) {
                part_[place] = parts_;
            }
            for (auto to : edges_.of(place)) {
                if (knot_[unit_[to]] != number) {
                    continue;
                }
                if (unit_[to] != unit && --pending_[unit_[to]] == 0 && !ready_[unit_[to]].empty()) {
                    complete_.push_back(unit_[to]);
                }
                if (--waiting_[to] == 0) {
                    make_ready(to);
                }
            }
        }
        parts_ += is_group(unit) ? 1U : 0U;
    }

    const induced_edges& edges_;
    std::vector<id> unit_; // by position: its group, or a unique number
    std::vector<id> part_; // by position
    grouped_ids places_;   // by unit
    std::vector<id> knot_; // by unit: its strong component
    id groups_ = 0;
    id parts_ = 0;
    std::vector<id> waiting_; // by position
    std::vector<id> pending_; // by unit: edges into it from others
    std::vector<std::vector<id>> ready_;
    std::deque<id> complete_;
    std::priority_queue<std::pair<id, id>, std::vector<std::pair<id, id>>, std::greater<>>
        startable_;
};

/// Divides groups of vertices into parts such that contracting all of them leaves the graph
/// acyclic.
///
/// A group stays whole unless a path leaves it and returns, possibly through contracted other
/// groups. `group` is by position: numbers from 0, `no_id` for none.
/// Requires: the edges are acyclic. Returns: the part by position, numbered from 0 without gaps;
/// `no_id` without a group. Complexity: O(V + E), plus O(n log n) in what is on cycles.
[[nodiscard]] inline std::vector<id> acyclic_parts(const induced_edges& edges,
                                                   std::span<const id> group) {
    return part_divider(edges, group).divide();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_ACYCLIC_PARTS_HPP
