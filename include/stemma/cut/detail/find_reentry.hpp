// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_FIND_REENTRY_HPP
#define STEMMA_CUT_DETAIL_FIND_REENTRY_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/detail/vertex_set.hpp>
#include <stemma/model/dependence.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the vertices on paths that leave a set and return, which make it convex, in the order
/// of the stretch.
///
/// `stretch` covers all members of the set. Complexity: O(vertices + edges) of the stretch.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<vertex_t<Graph>> find_gaps(const Graph& graph, const vertex_set& set,
                                                     const order_stretch<Graph>& stretch) {
    enum state : std::uint8_t { nothing, behind_members, member, gap };
    const auto all = stretch.vertices();
    std::vector<state> states(all.size(), nothing);
    const auto state_of = [&](vertex_t<Graph> v) {
        const auto place = stretch.place(index_of(graph, v));
        return place < all.size() ? states[place] : nothing;
    };
    for (std::size_t at = 0; at < all.size(); ++at) {
        const auto v = index_of(graph, all[at]);
        if (set.apart[v]) {
            continue;
        }
        if (set.inside[v]) {
            states[at] = member;
            continue;
        }
        for (auto [it, last] = in_edges(all[at], graph); it != last; ++it) {
            if (state_of(source(*it, graph)) != nothing) {
                states[at] = behind_members;
                break;
            }
        }
    }
    std::vector<vertex_t<Graph>> gaps;
    for (auto at = all.size(); at-- > 0;) {
        if (states[at] != behind_members) {
            continue;
        }
        for (auto [it, last] = out_edges(all[at], graph); it != last; ++it) {
            if (state_of(target(*it, graph)) >= member) {
                states[at] = gap;
                gaps.push_back(all[at]);
                break;
            }
        }
    }
    std::reverse(gaps.begin(), gaps.end());
    return gaps;
}

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

/// Divides a set into convex runs: a vertex is in run r if paths to it leave the set at most r
/// times.
///
/// `stretch` covers all members of the set.
/// Returns: the run by position in the stretch, `no_id` for vertices outside the set.
/// Complexity: O(vertices + edges) of the stretch.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<id> convex_runs(const Graph& graph, const vertex_set& set,
                                          const order_stretch<Graph>& stretch) {
    const auto all = stretch.vertices();
    std::vector<id> run(all.size(), 0); // doubled for now, plus one inside
    for (std::size_t at = 0; at < all.size(); ++at) {
        const auto v = index_of(graph, all[at]);
        if (set.apart[v]) {
            continue;
        }
        const id inside = set.inside[v] ? 1 : 0;
        id least = 0; // outside: the first run that it may feed
        for (auto [it, last] = in_edges(all[at], graph); it != last; ++it) {
            const auto from = stretch.place(index_of(graph, source(*it, graph)));
            if (from < at) {
                least = std::max(least, (run[from] + 1 - inside) / 2);
            }
        }
        run[at] = 2 * least + inside;
    }
    for (auto& r : run) {
        r = r % 2 == 0 ? no_id : r / 2;
    }
    return run;
}

/// Looks for paths that leave a set and return. Vertices apart which depend on members count as
/// members: what is pulled in beyond constants can be computed from results of the part, so a path
/// through its copy leads on, while constants depend on nothing.
///
/// Requires: `stretch` covers all members, and such vertices lead to members. Complexity: that of
/// `find(graph, set, stretch)`, which it returns, and if the policy pulls in more than constants,
/// O(vertices + edges) of the stretch.
template <operator_graph_like Graph, cut_policy Policy, class Find>
[[nodiscard]] auto find_on_paths(const Policy& policy, const Graph& graph, vertex_set& set,
                                 const order_stretch<Graph>& stretch, Find find) {
    std::vector<std::size_t> counted;
    if (policy.pulls(dependence::shape)) {
        const auto all = stretch.vertices();
        std::vector<bool> depends(all.size(), false);
        for (std::size_t at = 0; at < all.size(); ++at) {
            const auto v = index_of(graph, all[at]);
            depends[at] = set.is_inside(v);
            for (auto [it, last] = in_edges(all[at], graph); it != last && !depends[at]; ++it) {
                const auto from = stretch.place(index_of(graph, source(*it, graph)));
                depends[at] = from < at && depends[from];
            }
            if (depends[at] && set.apart[v] && !set.inside[v]) {
                counted.push_back(v);
            }
        }
    }
    const auto count = [&](bool as_members) {
        for (auto v : counted) {
            set.inside[v] = as_members;
            set.apart[v] = !as_members;
        }
    };
    count(true);
    auto path = find(graph, set, stretch);
    count(false);
    return path;
}

/// Returns: a path that leaves the set and returns as above, from the last member before; empty if
/// there is none. Requires, Complexity: as above.
template <operator_graph_like Graph, cut_policy Policy>
[[nodiscard]] auto find_way_back(const Policy& policy, const Graph& graph, vertex_set& set,
                                 const order_stretch<Graph>& stretch) {
    const auto members = set.inside;
    return find_on_paths(policy, graph, set, stretch, [&](const auto&... in) {
        auto path = find_reentry(in...);
        // A copy where it begins depends on a member within the set, or would end another path.
        for (bool grows = true; grows && !path.empty() && !members[index_of(graph, path[0])];) {
            grows = false;
            for (auto [it, last] = in_edges(path[0], graph); it != last && !grows; ++it) {
                const auto from = source(*it, graph);
                if (set.is_inside(index_of(graph, from))) {
                    path.insert(path.begin(), from);
                    grows = true;
                }
            }
        }
        return path;
    });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_FIND_REENTRY_HPP
