// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_QUOTIENT_GRAPH_HPP
#define STEMMA_CUT_DETAIL_QUOTIENT_GRAPH_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_QUOTIENT_GRAPH_HPP
