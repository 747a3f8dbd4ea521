// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALGORITHM_COMPLETE_CALLS_HPP
#define STEMMA_ALGORITHM_COMPLETE_CALLS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

namespace stemma {

/// A vertex of a module, and which call of the module it belongs to.
template <class Vertex>
struct call_member {
    Vertex vertex{}; ///< in the graph
    id call = no_id; ///< `no_id`: not known
};

/// Gives members of unknown call the one of what they read from, else of what reads from them, else
/// the first. Members come in another order where that was needed.
///
/// `rank` is by vertex index: a place behind those of all producers.
/// Complexity: O(n log n) in members and their edges.
template <operator_graph_like Graph>
void complete_calls(const Graph& graph, std::span<const id> rank,
                    std::vector<call_member<vertex_t<Graph>>>& members) {
    const bool all_known =
        std::none_of(members.begin(), members.end(), [](const auto& m) { return m.call == no_id; });
    if (all_known) {
        return;
    }
    std::sort(members.begin(), members.end(), [&](const auto& a, const auto& b) {
        return rank[index_of(graph, a.vertex)] < rank[index_of(graph, b.vertex)];
    });
    std::unordered_map<std::size_t, id> call; // by vertex index
    for (const auto& m : members) {
        call[index_of(graph, m.vertex)] = m.call;
    }
    const auto take = [&](auto v, auto neighbour) {
        const auto found = call.find(index_of(graph, neighbour));
        auto& own = call[index_of(graph, v)];
        if (own == no_id && found != call.end()) {
            own = found->second;
        }
    };
    for (const auto& m : members) {
        for (auto [it, last] = in_edges(m.vertex, graph); it != last; ++it) {
            take(m.vertex, source(*it, graph));
        }
    }
    for (auto m = members.rbegin(); m != members.rend(); ++m) {
        for (auto [it, last] = out_edges(m->vertex, graph); it != last; ++it) {
            take(m->vertex, target(*it, graph));
        }
    }
    for (auto& m : members) {
        const auto found = call[index_of(graph, m.vertex)];
        m.call = found == no_id ? 0 : found;
    }
}

} // namespace stemma

#endif // STEMMA_ALGORITHM_COMPLETE_CALLS_HPP
