// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_BOUNDARY_HPP
#define STEMMA_CUT_BOUNDARY_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/sparse_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/operator_graph.hpp>

#include <boost/pending/property.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

// Boost's own graphs have a property list, and cause hard errors for other properties.
template <class Graph>
concept lacks_value_property = requires {
    typename Graph::edge_property_type;
    requires !boost::lookup_one_property<typename Graph::edge_property_type, value_index_t>::found;
};

} // namespace detail

/// Whether edges of a graph carry value ids. Otherwise each vertex is assumed to produce one value.
template <class Graph>
concept carries_values =
    !detail::lacks_value_property<Graph> && requires(const Graph& graph, edge_t<Graph> e) {
    { get(value_index, graph, e) } -> std::convertible_to<id>;
};

namespace detail {

/// Returns: the value of an edge.
template <operator_graph_like Graph>
[[nodiscard]] id value_on(const Graph& graph, edge_t<Graph> e) {
    if constexpr (carries_values<Graph>) {
        return get(value_index, graph, e);
    } else {
        return static_cast<id>(index_of(graph, source(e, graph)));
    }
}

} // namespace detail

/// A part of the vertices of a graph, by vertex index.
///  `inside` are the members. `apart` count on neither side, as every reader gets a copy, such as
/// constants.
struct vertex_set {
    std::vector<bool> inside; ///< by vertex index
    std::vector<bool> apart;  ///< by vertex index

    /// An empty set.
    explicit vertex_set(std::size_t vertex_count) : inside(vertex_count), apart(vertex_count) {}

    /// Whether `v` counts as a member.
    [[nodiscard]] bool is_inside(std::size_t v) const { return inside[v] && !apart[v]; }

    /// Whether `v` counts as outside; `apart` vertices are neither.
    [[nodiscard]] bool is_outside(std::size_t v) const { return !inside[v] && !apart[v]; }
};

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
        detail::sparse_ids met; // values
        for (const auto& v : members) {
            if (set.apart[detail::index_of(graph, v)]) {
                continue;
            }
            for (auto [it, last] = edges(v); it != last; ++it) {
                const auto value = detail::value_on(graph, *it);
                if (set.is_outside(detail::index_of(graph, beyond(*it))) && met.insert(value)) {
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

/// The range of a topological order from the first to the last member of a set. Vertices outside
/// are on no path between members.
template <operator_graph_like Graph>
class order_stretch {
public:
    /// `order` is topological and `rank` its inverse by vertex index; an empty `order` means index
    /// order. Complexity: O(members).
    order_stretch(const Graph& graph, std::span<const vertex_t<Graph>> order,
                  std::span<const id> rank, std::span<const vertex_t<Graph>> members)
        : rank_(rank) {
        std::size_t end = 0;
        first_ = members.empty() ? 0 : order.size();
        for (const auto& v : members) {
            const auto at = rank_of(detail::index_of(graph, v));
            first_ = std::min(first_, at);
            end = std::max(end, at + 1);
        }
        vertices_ = order.subspan(first_, end - first_);
    }

    /// From `first` up to `end`; otherwise as above. Complexity: O(1).
    order_stretch(std::span<const vertex_t<Graph>> order, std::span<const id> rank,
                  std::size_t first, std::size_t end)
        : vertices_(order.subspan(first, end - first)), rank_(rank), first_(first) {}

    /// Returns: the range, producers first; valid as long as the order.
    [[nodiscard]] std::span<const vertex_t<Graph>> vertices() const noexcept { return vertices_; }

    /// Returns: the position of a vertex index in `vertices()`; beyond its end for others.
    [[nodiscard]] std::size_t place(std::size_t v) const {
        return rank_of(v) - first_; // earlier ones wrap around
    }

private:
    [[nodiscard]] std::size_t rank_of(std::size_t v) const { return rank_.empty() ? v : rank_[v]; }

    std::span<const vertex_t<Graph>> vertices_;
    std::span<const id> rank_;
    std::size_t first_ = 0;
};

namespace detail {

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

} // namespace detail

/// Returns: a path that leaves the set and returns: the last vertex inside, those outside, and the
/// first one inside again. Empty if the set is convex.
///
/// `stretch` covers all members of the set. Complexity: O(vertices + edges) of the stretch.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<vertex_t<Graph>> find_reentry(const Graph& graph, const vertex_set& set,
                                                        const order_stretch<Graph>& stretch) {
    std::vector<id> led_by;
    return detail::find_reentry(graph, set, stretch, led_by,
                                [](const vertex_t<Graph>& v) { return v; });
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
        const auto v = detail::index_of(graph, all[at]);
        if (set.apart[v]) {
            continue;
        }
        const id inside = set.inside[v] ? 1 : 0;
        id least = 0; // outside: the first run that it may feed
        for (auto [it, last] = in_edges(all[at], graph); it != last; ++it) {
            const auto from = stretch.place(detail::index_of(graph, source(*it, graph)));
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

} // namespace detail

/// Returns: the quotient graph of a partition: one edge between two parts if any vertex of one
/// reads from the other.
///
/// `part` is by vertex index, each below `part_count`; vertices with `no_id` are left out.
/// Complexity: O(V + E + parts), and O(n log n) of the edges of the result.
template <operator_graph_like Graph>
[[nodiscard]] operator_graph quotient_graph(const Graph& graph, std::span<const id> part,
                                            std::size_t part_count) {
    const detail::grouped_ids producers(part_count, [&](auto take) {
        detail::for_each_between(graph, part, [&](id from, id to) { take(to, from); });
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

/// The values that cross the boundary of every module of a tree, in the order of their producers.
struct module_boundaries {
    detail::grouped_ids inputs;  ///< by module: produced outside and read inside
    detail::grouped_ids outputs; ///< by module: produced inside and read outside, or graph outputs
};

/// Finds the values that cross the boundaries of all modules at once, descendants included.
///
/// `module` is by vertex index. A value is an output of every module that contains its producer but
/// not all of its readers, and an input of every module that contains a reader but not its
/// producer. `leaves(value)` says whether a value is also an output of the graph. `apart` is as in
/// `vertex_set`. Complexity: O(V + E + length of the result).
template <operator_graph_like Graph, class Leaving>
[[nodiscard]] module_boundaries
find_module_boundaries(const Graph& graph, const tree_index& modules, std::span<const id> module,
                       const std::vector<bool>& apart, Leaving leaving) {
    std::vector<std::pair<id, id>> in; // module, value
    std::vector<std::pair<id, id>> out;
    std::vector<id> last_in(modules.size(), no_id);
    std::vector<std::pair<id, id>> made; // value, reader's module
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto v = detail::index_of(graph, *it);
        if (apart[v]) {
            continue;
        }
        made.clear();
        for (auto [edge, edge_last] = out_edges(*it, graph); edge != edge_last; ++edge) {
            const auto reader = detail::index_of(graph, target(*edge, graph));
            if (!apart[reader]) {
                made.emplace_back(detail::value_on(graph, *edge), module[reader]);
            }
        }
        const auto& leaves = leaving(*it);
        for (auto value : leaves) {
            made.emplace_back(value, no_id);
        }
        std::sort(made.begin(), made.end());
        for (std::size_t i = 0, end = 0; i < made.size(); i = end) {
            const auto value = made[i].first;
            auto highest = module[v]; // the common ancestor of the vertex and all readers
            bool leaves_all = false;
            for (; end < made.size() && made[end].first == value; ++end) {
                const auto reader = made[end].second;
                if (reader == no_id) {
                    leaves_all = true;
                    continue;
                }
                highest = modules.lca(highest, reader);
                const auto meet = modules.lca(module[v], reader);
                for (auto m = reader; m != meet && last_in[m] != value; m = modules.parent(m)) {
                    last_in[m] = value;
                    in.emplace_back(m, value);
                }
            }
            for (auto m = module[v]; m != no_id && (leaves_all || m != highest);
                 m = modules.parent(m)) {
                out.emplace_back(m, value);
            }
        }
    }
    const auto by_module = [&](const std::vector<std::pair<id, id>>& pairs) {
        return detail::grouped_ids(modules.size(), [&](auto take) {
            for (const auto& [m, value] : pairs) {
                take(m, value);
            }
        });
    };
    return {by_module(in), by_module(out)};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_BOUNDARY_HPP
