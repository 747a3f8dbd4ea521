// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_PLAN_CUTS_HPP
#define STEMMA_CUT_PLAN_CUTS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/sparse_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/topological_order.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/detail/find_reentry.hpp>
#include <stemma/cut/detail/vertex_set.hpp>
#include <stemma/model/edge_values.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// The boundary of a set: one edge per value.
template <operator_graph_like Graph>
struct boundary_result {
    std::vector<edge_t<Graph>> inputs;  ///< into the set, in the order of readers
    std::vector<edge_t<Graph>> outputs; ///< out of it, in the order of producers
};

/// Finds the values that cross the boundary of a set.
///
/// Readers and producers are taken in the order of `members`, which are the vertices of the set.
/// Complexity: O(edges at the members), plus a lookup per crossing edge.
template <operator_graph_like Graph>
[[nodiscard]] boundary_result<Graph> find_boundary(const Graph& graph, const vertex_set& set,
                                                   std::span<const vertex_t<Graph>> members) {
    // `edges` are those of a member, `beyond` is the far end of one.
    const auto cross = [&](auto edges, auto beyond) {
        std::vector<edge_t<Graph>> kept;
        sparse_ids met; // values
        for (const auto& v : members) {
            if (set.apart[index_of(graph, v)]) {
                continue;
            }
            for (auto [it, last] = edges(v); it != last; ++it) {
                const auto value = value_on(graph, *it);
                if (set.is_outside(index_of(graph, beyond(*it))) && met.insert(value)) {
                    kept.push_back(*it);
                }
            }
        }
        return kept;
    };
    return {cross([&](const auto& v) { return in_edges(v, graph); },
                  [&](const auto& e) { return source(e, graph); }),
            cross([&](const auto& v) { return out_edges(v, graph); },
                  [&](const auto& e) { return target(e, graph); })};
}

} // namespace detail

/// A plan for cutting a part out of a graph.
template <operator_graph_like Graph>
struct graph_cut {
    std::vector<vertex_t<Graph>> vertices; ///< in execution order
    std::vector<vertex_t<Graph>> copies;   ///< those that the rest also has, in that order
    std::vector<edge_t<Graph>> inputs;     ///< one per value read, in the order of readers
    std::vector<edge_t<Graph>> outputs; ///< one per value read by others, in the order of producers
    std::vector<vertex_t<Graph>>
        way_back; ///< a path that leaves it and returns, if that is refused
};

namespace detail {

/// Plans cuts of one graph.
template <operator_graph_like Graph, cut_policy Policy, class DependsOn>
class graph_cutter {
public:
    graph_cutter(const Graph& graph, const Policy& policy, DependsOn depends_on)
        : graph_(graph)
        , policy_(policy)
        , depends_on_(std::move(depends_on))
        , order_(topological_order(graph))
        , rank_(num_vertices(graph), no_id)
        , set_(num_vertices(graph))
        , chosen_(num_vertices(graph), false) {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            rank_[at(order_[i])] = static_cast<id>(i);
        }
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            // Vertices on or after a cycle belong to no part.
            set_.apart[at(*it)] =
                rank_[at(*it)] == no_id || (depends_on_(*it) <= dependence::weight && pulls(*it));
        }
    }

    [[nodiscard]] std::vector<graph_cut<Graph>> plan(std::vector<vertex_t<Graph>> members) {
        members.erase(std::remove_if(members.begin(), members.end(),
                                     [&](const auto& v) {
                                         return at(v) >= rank_.size() || rank_[at(v)] == no_id;
                                     }),
                      members.end());
        std::sort(members.begin(), members.end(),
                  [&](const auto& a, const auto& b) { return rank_[at(a)] < rank_[at(b)]; });
        members.erase(std::unique(members.begin(), members.end()), members.end());
        put(set_.inside, members, true);
        // A part of constants consists of vertices that would otherwise belong to their readers.
        if (std::all_of(members.begin(), members.end(),
                        [&](const auto& v) { return bool{set_.apart[at(v)]}; })) {
            put(set_.apart, members, false);
        }
        pull_in(members);
        std::vector<graph_cut<Graph>> cuts;
        if (members.empty()) {
            return cuts;
        }
        if (policy_.gaps() == gap_rule::runs) {
            const auto run = find(members, [](const auto&... in) { return convex_runs(in...); });
            const auto first = rank_[at(members.front())];
            std::vector<std::vector<vertex_t<Graph>>> runs;
            for (const auto& v : members) {
                if (const auto r = run[rank_[at(v)] - first]; r != no_id) {
                    runs.resize(std::max<std::size_t>(runs.size(), r + 1));
                    runs[r].push_back(v);
                }
            }
            put(set_.inside, members, false);
            for (const auto& one : runs) {
                if (!one.empty()) {
                    put(set_.inside, one, true);
                    cuts.push_back(cut(one));
                    put(set_.inside, one, false);
                }
            }
            return cuts;
        }
        if (policy_.gaps() == gap_rule::absorb) {
            const auto gaps = find(members, [](const auto&... in) { return find_gaps(in...); });
            put(set_.inside, gaps, true);
            members.insert(members.end(), gaps.begin(), gaps.end());
        }
        cuts.push_back(cut(members));
        cuts.back().way_back = find_way_back(policy_, graph_, set_, stretch(members));
        return cuts;
    }

private:
    using vertex_list = std::vector<vertex_t<Graph>>;

    [[nodiscard]] std::size_t at(const vertex_t<Graph>& v) const { return index_of(graph_, v); }
    [[nodiscard]] bool pulls(const vertex_t<Graph>& v) const {
        return policy_.pulls(depends_on_(v));
    }

    [[nodiscard]] order_stretch<Graph> stretch(const vertex_list& members) const {
        return {graph_, std::span<const vertex_t<Graph>>(order_), std::span<const id>(rank_),
                std::span<const vertex_t<Graph>>(members)};
    }

    /// See `find_on_paths`.
    template <class Find>
    [[nodiscard]] auto find(const vertex_list& members, Find what) {
        return find_on_paths(policy_, graph_, set_, stretch(members), what);
    }

    void put(std::vector<bool>& in, const vertex_list& members, bool value) const {
        for (const auto& v : members) {
            in[at(v)] = value;
        }
    }

    /// Sets apart producers of the members that the policy pulls in beyond constants.
    void pull_in(const vertex_list& members) {
        go_back(members, [&](const auto& from) {
            const bool pulled = set_.is_outside(at(from)) && pulls(from);
            set_.apart[at(from)] = pulled || set_.apart[at(from)];
            return pulled;
        });
    }

    /// Calls `takes(u)` for the producers of some vertices, and for those of each `u` that it
    /// takes.
    template <class Takes>
    void go_back(vertex_list open, Takes takes) const {
        while (!open.empty()) {
            const auto v = open.back();
            open.pop_back();
            for (auto [it, last] = in_edges(v, graph_); it != last; ++it) {
                if (const auto from = source(*it, graph_); takes(from)) {
                    open.push_back(from);
                }
            }
        }
    }

    /// Requires: the set consists of the members.
    [[nodiscard]] graph_cut<Graph> cut(const vertex_list& members) {
        graph_cut<Graph> cut;
        for (const auto& v : members) {
            if (set_.is_inside(at(v))) {
                cut.vertices.push_back(v);
                chosen_[at(v)] = true;
            }
        }
        cut.outputs =
            find_boundary(graph_, set_, std::span<const vertex_t<Graph>>(cut.vertices)).outputs;
        go_back(cut.vertices, [&](const auto& from) {
            const bool copied =
                set_.apart[at(from)] && rank_[at(from)] != no_id && !chosen_[at(from)];
            if (copied) {
                chosen_[at(from)] = true;
                cut.copies.push_back(from);
            }
            return copied;
        });
        cut.vertices.insert(cut.vertices.end(), cut.copies.begin(), cut.copies.end());
        for (auto* list : {&cut.vertices, &cut.copies}) {
            std::sort(list->begin(), list->end(),
                      [&](const auto& a, const auto& b) { return rank_[at(a)] < rank_[at(b)]; });
        }
        sparse_ids met; // values
        for (const auto& v : cut.vertices) {
            for (auto [it, last] = in_edges(v, graph_); it != last; ++it) {
                if (!chosen_[at(source(*it, graph_))] && met.insert(value_on(graph_, *it))) {
                    cut.inputs.push_back(*it);
                }
            }
        }
        put(chosen_, cut.vertices, false);
        return cut;
    }

    const Graph& graph_;
    const Policy& policy_;
    DependsOn depends_on_;
    vertex_list order_;
    std::vector<id> rank_; // by vertex index: position in the order
    vertex_set set_;
    std::vector<bool> chosen_; // by vertex index: whether it is in the current part
};

} // namespace detail

/// Plans cutting a set of vertices out of any graph: one part, or one per convex run, as the policy
/// says. A part with a `way_back` cannot run as a whole.
///
/// `depends_on(vertex)` says what the results of a vertex depend on: every part gets copies of
/// constants and of what else the policy pulls in. Vertices on or after a cycle are in no part, nor
/// are those that the graph lacks. Throws: `error` of `error_code::refused` for a policy that
/// breaks what `cut_policy` requires. Complexity: O(V + E), plus O(n log n) in the part.
template <operator_graph_like Graph, cut_policy Policy, class DependsOn>
    requires std::regular_invocable<const DependsOn&, vertex_t<Graph>>
[[nodiscard]] std::vector<graph_cut<Graph>> plan_cuts(const Graph& graph,
                                                      std::vector<vertex_t<Graph>> wanted,
                                                      const Policy& policy, DependsOn depends_on) {
    detail::check_cut_policy(policy);
    return detail::graph_cutter<Graph, Policy, DependsOn>(graph, policy, std::move(depends_on))
        .plan(std::move(wanted));
}

/// As above, where everything depends on data. Complexity: as above.
template <operator_graph_like Graph, cut_policy Policy = standard_cut>
[[nodiscard]] std::vector<graph_cut<Graph>>
plan_cuts(const Graph& graph, std::vector<vertex_t<Graph>> wanted, const Policy& policy = {}) {
    return plan_cuts(graph, std::move(wanted), policy,
                     [](const vertex_t<Graph>&) { return dependence::data; });
}

/// Rejects other graphs and policies, with an explanation.
template <class Graph, class Policy = standard_cut, class... DependsOn>
    requires(!operator_graph_like<Graph> || !cut_policy<Policy>)
std::vector<vertex_t<Graph>> plan_cuts(const Graph&, std::vector<vertex_t<Graph>>,
                                       const Policy& = {}, const DependsOn&...) {
    static_assert(explain_operator_graph<Graph>());
    static_assert(explain_policy<cut_category, Policy>());
    return {};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_PLAN_CUTS_HPP
