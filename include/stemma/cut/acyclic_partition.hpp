// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_ACYCLIC_PARTITION_HPP
#define STEMMA_CUT_ACYCLIC_PARTITION_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/strong_components.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Calls `f(from, to)` for every edge between two parts, in the order of readers.
template <operator_graph_like Graph, class Function>
void for_each_between(const Graph& graph, std::span<const id> part, Function f) {
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto to = part[index_of(graph, *it)];
        if (to == no_id) {
            continue;
        }
        for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
            const auto from = part[index_of(graph, source(*in, graph))];
            if (from != to && from != no_id) {
                f(from, to);
            }
        }
    }
}

/// Returns: the quotient graph of a partition: one edge between two parts if any vertex of one
/// reads from the other.
///
/// `part` is by vertex index, each below `part_count`; vertices with `no_id` are left out.
/// Complexity: O(V + E + parts), and O(n log n) of the edges of the result.
template <operator_graph_like Graph>
[[nodiscard]] operator_graph quotient_graph(const Graph& graph, std::span<const id> part,
                                            std::size_t part_count) {
    const grouped_ids producers(part_count, [&](auto take) {
        for_each_between(graph, part, [&](id from, id to) { take(to, from); });
    });
    std::vector<std::pair<id, id>> pairs;
    std::vector<id> read_by(part_count, no_id); // by part: its last reader
    for (id to = 0; to < part_count; ++to) {
        const auto first = static_cast<std::ptrdiff_t>(pairs.size());
        for (auto from : producers[to]) {
            if (read_by[from] != to) {
                read_by[from] = to;
                pairs.emplace_back(to, from);
            }
        }
        std::sort(pairs.begin() + first, pairs.end());
    }
    return {part_count, [&](auto take) {
                for (const auto& [to, from] : pairs) {
                    take({from, to, no_id, no_id, no_id});
                }
            }};
}

} // namespace detail

/// A partition whose parts can run in order.
struct acyclic_partition {
    /// A part of the original partition, or one level of it.
    struct piece {
        id part = no_id; ///< of the original partition
        id level = 0;    ///< 0 for an undivided part
    };

    std::vector<piece> pieces; ///< in an order of execution
    std::vector<id> piece_of;  ///< by vertex index; `no_id` without a part
    std::string refusal;       ///< why there are none; "" if there are
};

namespace detail {

/// Returns: by part its readers, with multiplicity.
template <operator_graph_like Graph>
[[nodiscard]] grouped_ids readers_by_part(const Graph& graph, std::span<const id> part,
                                          std::size_t part_count) {
    return {part_count, [&](auto take) { for_each_between(graph, part, take); }};
}

/// Returns: by part its strong component, as `find_strong_components`.
[[nodiscard]] inline std::vector<id> circles_of(const grouped_ids& readers) {
    return strong_components<id>(
        readers.size(),
        [&](auto f) {
            for (id p = 0; p < readers.size(); ++p) {
                f(p);
            }
        },
        [](id p) { return p; },
        [&](id p) { return std::pair(readers[p].begin(), readers[p].end()); },
        [](id p) { return p; });
}

/// Returns: by vertex its place in a topological order that prefers low ones; `no_id` on and after
/// cycles. `readers[v]` are those of vertex `v`, with multiplicity.
/// Complexity: O(readers + n log n) in n vertices.
template <class Readers>
[[nodiscard]] std::vector<id> places_in_order(const Readers& readers) {
    std::vector<std::size_t> waiting(readers.size());
    for (std::size_t v = 0; v < readers.size(); ++v) {
        for (auto to : readers[v]) {
            ++waiting[to];
        }
    }
    std::priority_queue<id, std::vector<id>, std::greater<>> ready;
    for (id p = 0; p < waiting.size(); ++p) {
        if (waiting[p] == 0) {
            ready.push(p);
        }
    }
    std::vector<id> place(waiting.size(), no_id);
    for (id next = 0; !ready.empty(); ++next) {
        const auto p = ready.top();
        ready.pop();
        place[p] = next;
        for (auto to : readers[p]) {
            if (--waiting[to] == 0) {
                ready.push(to);
            }
        }
    }
    return place;
}

/// Renumbers the pieces topologically, low ones first. Requires: they are on no cycle.
/// Complexity: O(V + E), and O(log n) for each of n pieces.
template <operator_graph_like Graph>
void sort_pieces(const Graph& graph, acyclic_partition& partition) {
    const auto count = partition.pieces.size();
    const auto place = places_in_order(readers_by_part(graph, partition.piece_of, count));
    auto sorted = partition.pieces;
    for (std::size_t p = 0; p < count; ++p) {
        sorted[place[p]] = partition.pieces[p];
    }
    partition.pieces = std::move(sorted);
    for (auto& p : partition.piece_of) {
        p = p == no_id ? no_id : place[p];
    }
}

/// Divides parts on cycles by level: a vertex's level is the maximum number of transitions between
/// such parts on a path to it. Parts on no cycle stay whole.
///  `part` is by vertex index, below `part_count` or `no_id`; `order` holds the vertices with a
/// part in topological order. Complexity: O(V + E + parts), and O(log n) for each of n pieces and
/// each vertex of a level above 0.
template <operator_graph_like Graph>
[[nodiscard]] acyclic_partition make_acyclic(const Graph& graph, std::span<const id> part,
                                             std::size_t part_count,
                                             std::span<const vertex_t<Graph>> order) {
    const auto circle = detail::circles_of(detail::readers_by_part(graph, part, part_count));
    std::vector<id> level(num_vertices(graph), 0);
    std::vector<id> lowest(part_count, no_id); // by part: its piece of level 0
    std::map<std::pair<id, id>, id> others;    // part and level: piece
    acyclic_partition result;
    result.piece_of.assign(num_vertices(graph), no_id);
    for (const auto& v : order) {
        const auto i = detail::index_of(graph, v);
        const auto own = part[i];
        if (own == no_id) {
            continue;
        }
        id highest = 0;
        for (auto [it, last] = in_edges(v, graph); it != last; ++it) {
            const auto u = detail::index_of(graph, source(*it, graph));
            if (part[u] != no_id && circle[part[u]] == circle[own]) {
                highest = std::max(highest, level[u] + (part[u] == own ? 0U : 1U));
            }
        }
        level[i] = highest;
        auto& piece =
            highest == 0 ? lowest[own] : others.try_emplace({own, highest}, no_id).first->second;
        if (piece == no_id) {
            piece = static_cast<id>(result.pieces.size());
            result.pieces.push_back({own, highest});
        }
        result.piece_of[i] = piece;
    }
    detail::sort_pieces(graph, result); // so far by their first vertex
    return result;
}

} // namespace detail

/// Merges pieces of one part where possible: a level joins the previous one if no path leads from
/// there through other pieces to it.
///
/// Complexity: O(pieces * (pieces + edges between them)).
template <operator_graph_like Graph>
void join_levels(const Graph& graph, acyclic_partition& partition) {
    auto count = partition.pieces.size();
    std::map<id, std::vector<id>> of_part;
    for (id p = 0; p < count; ++p) {
        of_part[partition.pieces[p].part].push_back(p);
    }
    std::vector<id> joined(count); // by piece: the merged one
    for (id p = 0; p < count; ++p) {
        joined[p] = p;
    }
    const auto between = detail::quotient_graph(graph, std::span<const id>(partition.piece_of),
                                                partition.pieces.size());
    std::vector<std::vector<id>> members(count);
    for (id p = 0; p < count; ++p) {
        members[p] = {p};
    }
    // Whether a path leads from `from` through another piece to `to`.
    const auto leads_around = [&](id from, id to) {
        std::vector<bool> seen(count, false);
        std::vector<id> open;
        const auto visit_readers = [&](id group) {
            for (auto p : members[group]) {
                for (auto [it, last] = adjacent_vertices(p, between); it != last; ++it) {
                    const auto reader = joined[*it];
                    if (reader != from && !seen[reader] && (reader != to || group != from)) {
                        seen[reader] = true;
                        open.push_back(reader);
                    }
                }
            }
        };
        visit_readers(from);
        while (!open.empty() && !seen[to]) {
            const auto group = open.back();
            open.pop_back();
            visit_readers(group);
        }
        return bool{seen[to]};
    };
    for (const auto& [part, levels] : of_part) {
        auto into = levels.front();
        for (std::size_t i = 1; i < levels.size(); ++i) {
            if (leads_around(into, levels[i]) || leads_around(levels[i], into)) {
                into = levels[i];
                continue;
            }
            joined[levels[i]] = into;
            members[into].push_back(levels[i]);
            members[levels[i]].clear();
        }
    }
    std::vector<id> number(count, no_id);
    std::vector<acyclic_partition::piece> kept;
    for (id p = 0; p < count; ++p) {
        if (joined[p] == p) {
            number[p] = static_cast<id>(kept.size());
            kept.push_back(partition.pieces[p]);
        }
    }
    for (auto& p : partition.piece_of) {
        p = p == no_id ? no_id : number[joined[p]];
    }
    partition.pieces = std::move(kept);
    detail::sort_pieces(graph, partition);
}

namespace detail {

/// Returns: the least bound on the cost of a range with which `parts` ranges suffice.
/// Complexity: O(costs * log most expensive).
[[nodiscard]] inline std::uint64_t least_bound(std::span<const std::uint64_t> costs,
                                               std::uint64_t total, std::size_t parts) {
    const auto fits = [&](std::uint64_t most) {
        std::size_t ranges = 1;
        std::uint64_t sum = 0;
        for (auto cost : costs) {
            if (cost > most - sum) {
                ++ranges;
                sum = 0;
            }
            sum += cost;
        }
        return ranges <= parts;
    };
    const auto largest = *std::max_element(costs.begin(), costs.end());
    auto low = std::max(largest, total / parts + (total % parts == 0 ? 0 : 1));
    auto high = total - low < largest ? total : low + largest; // which always suffices
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (fits(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

} // namespace detail

/// Divides a sequence into exactly `parts` ranges of about equal cost: the most expensive one costs
/// as little as possible, and the others are near the mean.
///  `penalty(i)` is the penalty for dividing before element i; among equally good places by cost,
/// the first with the least penalty is chosen.
/// Requires: 0 < parts <= costs.size(); the sum of the costs fits into 64 bits.
/// Returns: the start of each range.
/// Complexity: O(costs * log most expensive), and as many calls of `penalty` as costs.
template <class Penalty>
[[nodiscard]] std::vector<std::size_t> divide_evenly(std::span<const std::uint64_t> costs,
                                                     std::size_t parts, Penalty penalty) {
    const auto count = costs.size();
    std::vector<std::uint64_t> before(count + 1); // cost of the elements before
    std::partial_sum(costs.begin(), costs.end(), before.begin() + 1);
    const auto total = before.back();
    const auto most = detail::least_bound(costs, total, parts);
    // The first place for each start with which the ranges from it on are within the bound.
    std::vector<std::size_t> earliest(parts, count);
    auto at = count;
    for (auto k = parts; k-- > 1;) {
        const auto end = before[at];
        while (at > 0 && end - before[at - 1] <= most) {
            --at;
        }
        earliest[k] = at;
    }
    std::vector<std::size_t> begins{0};
    const auto place = [&](std::uint64_t cost) { // the first with at least that cost before it
        return static_cast<std::size_t>(std::lower_bound(before.begin(), before.end(), cost) -
                                        before.begin());
    };
    for (std::size_t k = 1; k < parts; ++k) {
        const auto last = begins.back();
        const auto first = std::max(last + 1, earliest[k]);
        auto end = count - (parts - k) + 1;
        if (before[end - 1] - before[last] > most) {
            end = place(before[last] + most + 1);
        }
        // floor(total * k / parts), without overflowing 64 bits.
        const auto target = total / parts * k + total % parts * k / parts;
        auto best = std::clamp(place(target), first, end - 1);
        if (best > first && before[best] > target &&
            target - before[best - 1] <= before[best] - target) {
            --best;
        }
        // Free elements can go to either side.
        const auto cost = before[best];
        best = std::max(first, place(cost));
        auto least_penalty = penalty(best);
        for (auto i = best + 1; i < end && before[i] == cost; ++i) {
            if (const auto other = penalty(i); other < least_penalty) {
                best = i;
                least_penalty = other;
            }
        }
        begins.push_back(best);
    }
    return begins;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_ACYCLIC_PARTITION_HPP
