// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_FOLD_GRAPH_HPP
#define STEMMA_REPORT_FOLD_GRAPH_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/disjoint_sets.hpp>
#include <stemma/core/detail/strong_components.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/edge_values.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// The levels of boxes: the longest path to each, counting boxes with weight.
struct box_levels {
    std::vector<id> level;     ///< by box; equal within a cycle
    std::vector<id> component; ///< by box: equal within a cycle
    std::vector<id> members;   ///< by component
};

/// `edges` have the numbers `from` and `to` of boxes, and are by `from`; `weighs` is by box.
/// Complexity: O(boxes log boxes + edges).
template <class Edge>
[[nodiscard]] box_levels find_levels(std::size_t boxes, const std::vector<Edge>& edges,
                                     const std::vector<bool>& weighs) {
    std::vector<std::size_t> first(boxes + 1, 0);
    for (const auto& edge : edges) {
        ++first[std::size_t{edge.from} + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    box_levels levels;
    levels.component = strong_components<id>(
        boxes,
        [&](auto f) {
            for (id b = 0; b < boxes; ++b) {
                f(b);
            }
        },
        [](id b) { return b; },
        [&](id b) {
            return std::pair(edges.data() + first[b], edges.data() + first[std::size_t{b} + 1]);
        },
        [](const Edge& edge) { return edge.to; });
    levels.members.assign(boxes, 0);
    std::vector<bool> steps(boxes, false); // by component
    for (std::size_t b = 0; b < boxes; ++b) {
        ++levels.members[levels.component[b]];
        steps[levels.component[b]] = steps[levels.component[b]] || weighs[b];
    }
    std::vector<id> order(boxes);
    std::iota(order.begin(), order.end(), id{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](id a, id b) { return levels.component[a] > levels.component[b]; });
    std::vector<id> level(boxes, 0); // by component
    for (const auto b : order) {
        const auto from = levels.component[b];
        for (auto e = first[b]; e < first[std::size_t{b} + 1]; ++e) {
            const auto to = levels.component[edges[e].to];
            if (to != from) {
                level[to] = std::max(level[to], level[from] + (steps[from] ? 1U : 0U));
            }
        }
    }
    for (std::size_t b = 0; b < boxes; ++b) {
        levels.level.push_back(level[levels.component[b]]);
    }
    return levels;
}

} // namespace detail

/// A graph in which some modules are open and every other one is a box.
struct folded_graph {
    /// What a box represents.
    enum class box_kind : std::uint8_t {
        one_operator,     ///< directly in an open module
        closed_module,    ///< with its descendants
        shape_arithmetic, ///< connected operators of an open module that only compute shapes
        rest,             ///< what did not fit into an open module
    };

    /// A box of a picture.
    struct box {
        box_kind kind = box_kind::one_operator; ///< what `of` names
        id of = no_id;                          ///< vertex index, or module
        id around = no_id;                      ///< the open module that contains it
        std::size_t operators = 0;              ///< their number
    };

    /// All values from one box to another.
    struct edge {
        id from = no_id;        ///< number of the producing box
        id to = no_id;          ///< number of the reading box, a different one
        id value = no_id;       ///< the first of them
        std::size_t values = 0; ///< the number of distinct ones
    };

    std::vector<bool> open;  ///< by module
    std::vector<box> boxes;  ///< by number, as in `box_of` and the edges
    std::vector<id> box_of;  ///< by vertex index; `no_id` if not shown
    std::vector<edge> edges; ///< each pair of boxes once
};

/// What to show, and how much of it.
struct collapse_options {
    id root = 0;      ///< the module to show
    id depth = no_id; ///< the number of levels below it to open, if they fit

    /// Beyond these, modules stay closed, and whatever gets no box of its own, operators first,
    /// goes into one box for the rest.
    std::size_t max_boxes = 60;
};

namespace detail {

/// Opens modules level by level while the boxes fit.
class module_opener {
public:
    module_opener(const tree_index& tree, std::span<const id> module,
                  const std::vector<bool>& shown, const std::vector<bool>& quiet,
                  const collapse_options& options)
        : tree_(tree)
        , options_(options)
        , direct_(tree.size(), 0)
        , filled_(tree.size(), 0)
        , is_filled_(tree.size(), false) {
        std::vector<bool> has_quiet(tree.size(), false);
        for (std::size_t v = 0; v < module.size(); ++v) {
            if (shown[v]) {
                const bool is_quiet = !quiet.empty() && quiet[v];
                direct_[module[v]] += is_quiet && has_quiet[module[v]] ? 0U : 1U;
                has_quiet[module[v]] = has_quiet[module[v]] || is_quiet;
                is_filled_[module[v]] = true;
            }
        }
        for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
            is_filled_[tree.parent(m)] = is_filled_[tree.parent(m)] || is_filled_[m];
            filled_[tree.parent(m)] += is_filled_[m] ? 1U : 0U;
        }
    }

    [[nodiscard]] std::vector<bool> open() const {
        std::vector<bool> open(tree_.size(), false);
        open[options_.root] = true;
        std::size_t boxes = contents(options_.root);
        std::vector<id> level;
        std::vector<id> below;
        append_children(options_.root, level);
        for (id depth = 0; depth < options_.depth && !level.empty(); ++depth) {
            below.clear();
            for (auto m : level) {
                boxes += contents(m) - 1;
                append_children(m, below);
            }
            if (boxes > options_.max_boxes) {
                break;
            }
            for (auto m : level) {
                open[m] = true;
            }
            level.swap(below);
        }
        return open;
    }

private:
    void append_children(id m, std::vector<id>& level) const {
        for (const id c : tree_.children(m)) {
            if (is_filled_[c]) {
                level.push_back(c);
            }
        }
    }

    [[nodiscard]] std::size_t contents(id m) const { return direct_[m] + filled_[m]; }

    const tree_index& tree_;
    const collapse_options& options_;
    std::vector<id> direct_;      // boxes of a module's own operators, shape arithmetic as one
    std::vector<id> filled_;      // number of filled children
    std::vector<bool> is_filled_; // whether there are operators in or below a module
};

/// Gives every operator of the root a box: its own in an open module, otherwise that of the closed
/// one.
[[nodiscard]] inline std::vector<folded_graph::box> draft_boxes(const tree_index& tree,
                                                                std::span<const id> module,
                                                                const std::vector<bool>& shown,
                                                                id root, folded_graph& result) {
    std::vector<folded_graph::box> boxes;
    std::vector<id> holder(tree.size(), no_id); // itself if open, else the outermost closed one
    std::vector<id> box_of_module(tree.size(), no_id);
    for (auto m = root; m < tree.end(root); ++m) {
        const bool closed = !result.open[m] && result.open[holder[tree.parent(m)]];
        holder[m] = result.open[m] || closed ? m : holder[tree.parent(m)];
    }
    for (id v = 0; v < module.size(); ++v) {
        const auto m = shown[v] ? holder[module[v]] : no_id;
        if (m == no_id) {
            continue;
        }
        auto box = box_of_module[m];
        if (box == no_id) {
            box = static_cast<id>(boxes.size());
            const bool open = result.open[m];
            boxes.push_back(open ? folded_graph::box{folded_graph::box_kind::one_operator, v, m, 0}
                                 : folded_graph::box{folded_graph::box_kind::closed_module, m,
                                                     tree.parent(m), 0});
            box_of_module[m] = open ? no_id : box;
        }
        result.box_of[v] = box;
        ++boxes[box].operators;
    }
    return boxes;
}

/// Calls `take(from, to, value)` for every edge between two boxes.
template <operator_graph_like Graph, class Take>
void for_each_flow(const Graph& graph, const std::vector<id>& box_of, Take take) {
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto to = box_of[index_of(graph, *it)];
        if (to == no_id) {
            continue;
        }
        for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
            const auto from = box_of[index_of(graph, source(*in, graph))];
            if (from != no_id && from != to) {
                take(from, to, value_on(graph, *in));
            }
        }
    }
}

/// Returns: the edges between boxes, by producing box, then by reading box.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<folded_graph::edge>
join_flows(const Graph& graph, const std::vector<id>& box_of, std::size_t boxes) {
    std::vector<std::size_t> end(boxes + 1, 0); // by box: the end of its outgoing values
    for_each_flow(graph, box_of, [&](id from, id, id) { ++end[std::size_t{from} + 1]; });
    std::partial_sum(end.begin(), end.end(), end.begin());
    std::vector<std::uint64_t> flows(end.back()); // reading box and value, packed for sorting
    for_each_flow(graph, box_of, [&](id from, id to, id value) {
        flows[end[from]++] = std::uint64_t{to} << 32U | value;
    });
    std::vector<folded_graph::edge> edges;
    for (std::size_t from = 0, at = 0; from < boxes; ++from) {
        const auto first = at;
        std::sort(flows.data() + first, flows.data() + end[from]);
        for (; at < end[from]; ++at) {
            const auto to = static_cast<id>(flows[at] >> 32U);
            if (at == first || to != flows[at - 1] >> 32U) {
                edges.push_back({static_cast<id>(from), to, static_cast<id>(flows[at]), 1});
            } else if (flows[at] != flows[at - 1]) {
                ++edges.back().values;
            }
        }
    }
    return edges;
}

/// Moves operators to other boxes: `to[b]` is the new number of box `b`.
inline void renumber_boxes(const std::vector<id>& to, std::vector<id>& box_of) {
    for (auto& box : box_of) {
        box = box == no_id ? no_id : to[box];
    }
}

/// Merges connected operators that only compute shapes into one box, if at the same level, so that
/// no path leaves a box and returns.
template <operator_graph_like Graph>
void join_shape_arithmetic(const Graph& graph, const std::vector<bool>& quiet,
                           std::vector<folded_graph::box>& boxes, std::vector<id>& box_of) {
    const auto edges = join_flows(graph, box_of, boxes.size());
    std::vector<bool> weighs;
    for (const auto& box : boxes) {
        weighs.push_back(box.kind != folded_graph::box_kind::one_operator || !quiet[box.of]);
    }
    const auto levels = find_levels(boxes.size(), edges, weighs);
    disjoint_sets joined(boxes.size());
    for (const auto& edge : edges) {
        const auto [a, b] = std::pair(edge.from, edge.to);
        const bool alike = !weighs[a] && !weighs[b] && boxes[a].around == boxes[b].around &&
                           levels.level[a] == levels.level[b] &&
                           (levels.component[a] == levels.component[b] ||
                            (levels.members[levels.component[a]] == 1 &&
                             levels.members[levels.component[b]] == 1));
        if (alike) {
            joined.join(a, b);
        }
    }
    std::vector<folded_graph::box> kept;
    std::vector<id> to(boxes.size(), no_id);
    for (id b = 0; b < boxes.size(); ++b) {
        const auto first = joined.find(b);
        if (first == b) {
            to[b] = static_cast<id>(kept.size());
            kept.push_back(boxes[b]);
        } else {
            to[b] = to[first];
            auto& box = kept[to[b]];
            box.kind = folded_graph::box_kind::shape_arithmetic;
            box.of = box.around;
            box.operators += boxes[b].operators;
        }
    }
    boxes.swap(kept);
    renumber_boxes(to, box_of);
}

/// Keeps so many boxes, those of modules first, then those of single operators. Everything else
/// becomes one box, the last.
inline void limit_boxes(std::size_t most, id root, std::vector<folded_graph::box>& boxes,
                        std::vector<id>& box_of) {
    most = std::max<std::size_t>(most, 2);
    if (boxes.size() <= most) {
        return;
    }
    std::vector<bool> keep(boxes.size(), false);
    auto remaining = most - 1;
    for (const auto kind :
         {folded_graph::box_kind::closed_module, folded_graph::box_kind::one_operator,
          folded_graph::box_kind::shape_arithmetic}) {
        for (std::size_t b = 0; b < boxes.size() && remaining > 0; ++b) {
            if (boxes[b].kind == kind) {
                keep[b] = true;
                --remaining;
            }
        }
    }
    std::vector<folded_graph::box> kept;
    std::vector<id> to(boxes.size(), static_cast<id>(most - 1));
    folded_graph::box rest{folded_graph::box_kind::rest, root, root, 0};
    for (std::size_t b = 0; b < boxes.size(); ++b) {
        if (keep[b]) {
            to[b] = static_cast<id>(kept.size());
            kept.push_back(boxes[b]);
        } else {
            rest.operators += boxes[b].operators;
        }
    }
    kept.push_back(rest);
    boxes.swap(kept);
    renumber_boxes(to, box_of);
}

/// Numbers boxes so that edges lead to higher numbers, except within cycles and at the box of the
/// rest, which is last.
template <operator_graph_like Graph>
void order_boxes(const Graph& graph, folded_graph& result) {
    auto& boxes = result.boxes;
    const auto is_rest = [&](id b) { return boxes[b].kind == folded_graph::box_kind::rest; };
    result.edges = join_flows(graph, result.box_of, boxes.size());
    auto edges = result.edges;
    std::erase_if(edges, [&](const auto& edge) { return is_rest(edge.from) || is_rest(edge.to); });
    const auto levels = find_levels(boxes.size(), edges, std::vector<bool>(boxes.size(), true));
    std::vector<id> order(boxes.size());
    std::iota(order.begin(), order.end(), id{0});
    std::stable_sort(order.begin(), order.end(), [&](id a, id b) {
        return is_rest(a) != is_rest(b) ? is_rest(b) : levels.level[a] < levels.level[b];
    });
    std::vector<folded_graph::box> ordered;
    std::vector<id> to(boxes.size());
    for (const auto b : order) {
        to[b] = static_cast<id>(ordered.size());
        ordered.push_back(boxes[b]);
    }
    boxes.swap(ordered);
    renumber_boxes(to, result.box_of);
    for (auto& edge : result.edges) {
        edge.from = to[edge.from];
        edge.to = to[edge.to];
    }
    std::sort(result.edges.begin(), result.edges.end(), [](const auto& a, const auto& b) {
        return a.from != b.from ? a.from < b.from : a.to < b.to;
    });
}

} // namespace detail

/// Folds a graph into a picture of bounded size: modules are opened level by level while the boxes
/// fit. What does not even fit into the outermost module becomes a single box.
///
/// `module`, `shown` and `quiet` are by vertex index; connected quiet operators become one box if
/// that creates no cycle. Edges lead to boxes with higher numbers, except within cycles and at the
/// rest. Complexity: O(V + E log E + modules).
template <operator_graph_like Graph>
[[nodiscard]] folded_graph fold_graph(const Graph& graph, const tree_index& tree,
                                      std::span<const id> module, const std::vector<bool>& shown,
                                      const collapse_options& options = {},
                                      const std::vector<bool>& quiet = {}) {
    folded_graph result;
    result.open = detail::module_opener(tree, module, shown, quiet, options).open();
    result.box_of.assign(module.size(), no_id);
    result.boxes = detail::draft_boxes(tree, module, shown, options.root, result);
    if (std::find(quiet.begin(), quiet.end(), true) != quiet.end()) {
        detail::join_shape_arithmetic(graph, quiet, result.boxes, result.box_of);
    }
    detail::limit_boxes(options.max_boxes, options.root, result.boxes, result.box_of);
    detail::order_boxes(graph, result);
    return result;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_FOLD_GRAPH_HPP
