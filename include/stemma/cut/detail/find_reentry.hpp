// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_FIND_REENTRY_HPP
#define STEMMA_CUT_DETAIL_FIND_REENTRY_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/detail/order_stretch.hpp>
#include <stemma/cut/detail/vertex_set.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// As below, with `name(vertex)` for each vertex of the path. `led_by` is scratch space by
/// position: the predecessor on a path from a member; for a member, itself.
template <operator_graph_like Graph, class Name>
[[nodiscard]] auto find_reentry(const Graph& graph, const vertex_set& set,
                                const order_stretch<Graph>& stretch, std::vector<id>& led_by,
                                Name name) {
    const auto all = stretch.vertices();
    const auto place_of = [&](vertex_t<Graph> v) { return stretch.place(index_of(graph, v)); };
    led_by.resize(all.size());
    auto back = all.size(); // the first member with such a path through others
    for (std::size_t at = 0; at < back; ++at) {
        const auto v = index_of(graph, all[at]);
        if (set.inside[v] || set.apart[v]) {
            led_by[at] = set.apart[v] ? no_id : static_cast<id>(at);
            continue;
        }
        id led = no_id;
        for (auto [it, last] = in_edges(all[at], graph); it != last; ++it) {
            const auto from = place_of(source(*it, graph));
            if (from < at && led_by[from] != no_id) {
                led = static_cast<id>(from);
                break;
            }
        }
        led_by[at] = led;
        if (led == no_id) {
            continue;
        }
        for (auto [it, last] = out_edges(all[at], graph); it != last; ++it) {
            if (set.is_inside(index_of(graph, target(*it, graph)))) {
                back = std::min(back, place_of(target(*it, graph)));
            }
        }
    }
    std::vector<decltype(name(all[back]))> path;
    if (back == all.size()) {
        return path;
    }
    path.push_back(name(all[back]));
    for (auto [it, last] = in_edges(all[back], graph); it != last && path.size() == 1; ++it) {
        auto from = place_of(source(*it, graph));
        if (from >= back || led_by[from] == no_id || led_by[from] == from) {
            continue;
        }
        for (; led_by[from] != from; from = led_by[from]) {
            path.push_back(name(all[from]));
        }
        path.push_back(name(all[from]));
    }
    std::reverse(path.begin(), path.end());
    return path;
}

/// Returns: a path that leaves the set and returns: the last vertex inside, those outside, and the
/// first one inside again. Empty if the set is convex.
///
/// `stretch` covers all members of the set. Complexity: O(vertices + edges) of the stretch.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<vertex_t<Graph>> find_reentry(const Graph& graph, const vertex_set& set,
                                                        const order_stretch<Graph>& stretch) {
    std::vector<id> led_by;
    return find_reentry(graph, set, stretch, led_by, [](const vertex_t<Graph>& v) { return v; });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_FIND_REENTRY_HPP
