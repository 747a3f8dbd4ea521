// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_FOLD_GRAPH_HPP
#define STEMMA_REPORT_FOLD_GRAPH_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/cut/boundary.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace stemma {

/// What a box stands for.
enum class box_kind : std::uint8_t {
    one_operator,  ///< which stands in an open module itself
    closed_module, ///< with all that is in it and below
    rest,          ///< what did not fit into an open module
};

/// Something that a picture shows as one.
struct folded_box {
    box_kind kind = box_kind::one_operator; ///< what `of` names
    id of = no_id;                          ///< vertex index, or module
    id around = no_id;                      ///< the open module that it stands in
    std::size_t operators = 0;              ///< how many it stands for
};

/// All that flows from one box to another one.
struct folded_edge {
    id from = no_id;        ///< number of the producing box
    id to = no_id;          ///< number of the reading box, another one
    id value = no_id;       ///< the first one
    std::size_t values = 0; ///< how many different ones
};

/// A graph in which some modules are open and all others are one box each.
struct folded_graph {
    std::vector<bool> open;         ///< by module
    std::vector<folded_box> boxes;  ///< numbered as `box_of` and the edges say
    std::vector<id> box_of;         ///< by vertex index; `no_id` where nothing is shown
    std::vector<folded_edge> edges; ///< each pair of boxes once
};

/// What is shown, and how much of it.
struct collapse_options {
    id root = 0;      ///< the module that is shown
    id depth = no_id; ///< so many levels below it are open, if they fit

    /// Beyond these, modules stay closed and operators go into boxes of the rest.
    std::size_t max_boxes = 60;
};

namespace detail {

/// Opens modules level by level so long as all boxes are not too many.
class module_opener {
public:
    module_opener(const tree_index& tree, std::span<const id> module,
                  const std::vector<bool>& shown, const collapse_options& options)
        : tree_(tree), options_(options), direct_(tree.size(), 0), filled_(tree.size(), 0) {
        for (std::size_t v = 0; v < module.size(); ++v) {
            direct_[module[v]] += shown[v] ? 1U : 0U;
        }
        all_ = direct_;
        for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
            all_[tree.parent(m)] += all_[m];
            filled_[tree.parent(m)] += all_[m] > 0 ? 1U : 0U;
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

    /// Returns: operators in a module itself.
    [[nodiscard]] std::size_t direct(id m) const { return direct_[m]; }

    /// Whether operators are in a module or below it.
    [[nodiscard]] bool is_filled(id m) const { return all_[m] > 0; }

private:
    void append_children(id m, std::vector<id>& level) const {
        for (const id c : tree_.children(m)) {
            if (is_filled(c)) {
                level.push_back(c);
            }
        }
    }

    [[nodiscard]] std::size_t contents(id m) const { return direct(m) + filled_[m]; }

    const tree_index& tree_;
    const collapse_options& options_;
    std::vector<id> direct_;
    std::vector<id> filled_; // children that are
    std::vector<id> all_;
};

/// Puts operators into boxes, in order.
class box_filler {
public:
    box_filler(const tree_index& tree, const module_opener& opener, const collapse_options& options,
               folded_graph& result)
        : tree_(tree)
        , root_(options.root)
        , most_(std::max<std::size_t>(options.max_boxes, 2))
        , result_(result)
        , holder_(tree.size(), no_id)
        , box_of_module_(tree.size(), no_id) {
        for (auto m = root_; m < tree.end(root_); ++m) {
            const bool open = result.open[m];
            const auto above = open ? no_id : holder_[tree.parent(m)];
            const bool closed = !open && result.open[above];
            holder_[m] = open || closed ? m : above;
            total_ += open ? opener.direct(m) : closed && opener.is_filled(m) ? 1U : 0U;
        }
        result.boxes.reserve(std::min(total_, most_));
    }

    void add(id v, id module) {
        const auto holder = holder_[module];
        if (holder == no_id) {
            return;
        }
        auto box = box_of_module_[holder];
        if (box == no_id) {
            box = find_box(v, holder);
        }
        result_.box_of[v] = box;
        ++result_.boxes[box].operators;
    }

private:
    [[nodiscard]] id find_box(id v, id holder) {
        const bool open = result_.open[holder];
        const bool fits = total_ <= most_ || result_.boxes.size() + 1 < most_;
        auto box = fits ? no_id : rest_;
        if (box == no_id) {
            box = static_cast<id>(result_.boxes.size());
            result_.boxes.push_back(
                !fits  ? folded_box{box_kind::rest, root_, root_, 0}
                : open ? folded_box{box_kind::one_operator, v, holder, 0}
                       : folded_box{box_kind::closed_module, holder, tree_.parent(holder), 0});
            rest_ = fits ? rest_ : box;
        }
        if (!open) {
            box_of_module_[holder] = box;
        }
        return box;
    }

    const tree_index& tree_;
    id root_;
    std::size_t most_;
    folded_graph& result_;
    std::vector<id> holder_; // by module: itself where it is open, else the outermost closed one
    std::vector<id> box_of_module_;
    std::size_t total_ = 0; // boxes that there would be without a limit
    id rest_ = no_id;
};

/// Calls `take(from, to, value)` for every edge from one box to another one.
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

/// Returns: what flows between boxes, by producing box, then by reading box.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<folded_edge> join_flows(const Graph& graph, const std::vector<id>& box_of,
                                                  std::size_t boxes) {
    std::vector<std::size_t> end(boxes + 1, 0); // by box, of what flows out of it
    for_each_flow(graph, box_of, [&](id from, id, id) { ++end[std::size_t{from} + 1]; });
    std::partial_sum(end.begin(), end.end(), end.begin());
    std::vector<std::uint64_t> flows(end.back()); // reading box and value, to be sorted as one
    for_each_flow(graph, box_of, [&](id from, id to, id value) {
        flows[end[from]++] = std::uint64_t{to} << 32U | value;
    });
    std::vector<folded_edge> edges;
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

} // namespace detail

/// Folds a graph so that it makes a picture of a bounded size: modules are opened level by level,
/// so long as there are not too many boxes. What does not even fit into the outermost module is one
/// box in the end.
///
/// `module` and `shown` are by vertex index. Boxes are in the order of their first operators.
/// Complexity: O(V + E log E + modules).
template <operator_graph_like Graph>
[[nodiscard]] folded_graph fold_graph(const Graph& graph, const tree_index& tree,
                                      std::span<const id> module, const std::vector<bool>& shown,
                                      const collapse_options& options = {}) {
    const detail::module_opener opener(tree, module, shown, options);
    folded_graph result;
    result.open = opener.open();
    result.box_of.assign(module.size(), no_id);
    detail::box_filler boxes(tree, opener, options, result);
    for (id v = 0; v < module.size(); ++v) {
        if (shown[v]) {
            boxes.add(v, module[v]);
        }
    }
    result.edges = detail::join_flows(graph, result.box_of, result.boxes.size());
    return result;
}

} // namespace stemma

#endif // STEMMA_REPORT_FOLD_GRAPH_HPP
