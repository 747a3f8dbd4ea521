// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_COMPLETE_CALLS_HPP
#define STEMMA_CUT_DETAIL_COMPLETE_CALLS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A vertex of a module with its call.
template <class Vertex>
struct call_member {
    Vertex vertex{}; ///< in the graph
    id call = no_id; ///< `no_id`: unknown
};

/// Gives members of unknown call that of their producers, else of their readers, else the first.
/// May reorder members.
///  `rank` is a topological rank by vertex index. Requires: members are distinct.
/// Complexity: O(n log n) expected in members and their edges.
template <operator_graph_like Graph>
void complete_calls(const Graph& graph, std::span<const id> rank,
                    std::vector<call_member<vertex_t<Graph>>>& members) {
    const bool all_known =
        std::none_of(members.begin(), members.end(), [](const auto& m) { return m.call == no_id; });
    if (all_known) {
        return;
    }
    const auto index = [&](const auto& v) { return static_cast<id>(index_of(graph, v)); };
    const auto stands_before = [&](const auto& a, const auto& b) {
        return rank[index(a.vertex)] < rank[index(b.vertex)];
    };
    if (!std::is_sorted(members.begin(), members.end(), stands_before)) {
        std::sort(members.begin(), members.end(), stands_before);
    }
    flat_index places(members.size());
    for (id i = 0; i < members.size(); ++i) {
        places.insert(hash_mix(index(members[i].vertex), 0), i, [](id) { return false; });
    }
    const auto call_of = [&](const auto& v) {
        const auto member = places.find(hash_mix(index(v), 0),
                                        [&](id i) { return index(members[i].vertex) == index(v); });
        return member == no_id ? no_id : members[member].call;
    };
    for (auto& m : members) {
        for (auto [it, last] = in_edges(m.vertex, graph); it != last && m.call == no_id; ++it) {
            m.call = call_of(source(*it, graph));
        }
    }
    for (auto m = members.rbegin(); m != members.rend(); ++m) {
        for (auto [it, last] = out_edges(m->vertex, graph); it != last && m->call == no_id; ++it) {
            m->call = call_of(target(*it, graph));
        }
    }
    for (auto& m : members) {
        m.call = m.call == no_id ? 0 : m.call;
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_COMPLETE_CALLS_HPP
