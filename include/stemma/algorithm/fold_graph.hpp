// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALGORITHM_FOLD_GRAPH_HPP
#define STEMMA_ALGORITHM_FOLD_GRAPH_HPP

#include <stemma/algorithm/boundary.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
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
struct fold_options {
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
                  const std::vector<bool>& shown, const fold_options& options)
        : tree_(tree), options_(options), direct_(tree.size(), 0), all_(tree.size(), 0) {
        for (std::size_t v = 0; v < module.size(); ++v) {
            direct_[module[v]] += shown[v] ? 1U : 0U;
        }
        all_ = direct_;
        for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
            all_[tree.parent(m)] += all_[m];
        }
    }

    [[nodiscard]] std::vector<bool> open() const {
        std::vector<bool> open(tree_.size(), false);
        open[options_.root] = true;
        std::size_t boxes = contents(options_.root);
        std::vector<id> level = filled_children(options_.root);
        for (id depth = 0; depth < options_.depth && !level.empty(); ++depth) {
            std::vector<id> below;
            for (auto m : level) {
                boxes += contents(m) - 1;
                const auto children = filled_children(m);
                below.insert(below.end(), children.begin(), children.end());
            }
            if (boxes > options_.max_boxes) {
                break;
            }
            for (auto m : level) {
                open[m] = true;
            }
            level = std::move(below);
        }
        return open;
    }

    /// Returns: operators in a module and below it.
    [[nodiscard]] std::size_t all(id m) const { return all_[m]; }

private:
    [[nodiscard]] std::vector<id> filled_children(id m) const {
        std::vector<id> children;
        for (auto c = m + 1; c < tree_.end(m); c = tree_.end(c)) {
            if (all_[c] > 0) {
                children.push_back(c);
            }
        }
        return children;
    }

    [[nodiscard]] std::size_t contents(id m) const {
        return direct_[m] + filled_children(m).size();
    }

    const tree_index& tree_;
    const fold_options& options_;
    std::vector<std::size_t> direct_;
    std::vector<std::size_t> all_;
};

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
                                      const fold_options& options = {}) {
    const detail::module_opener opener(tree, module, shown, options);
    folded_graph result;
    result.open = opener.open();
    result.box_of.assign(module.size(), no_id);
    std::vector<id> box_of_module(tree.size(), no_id);
    const auto most = std::max<std::size_t>(options.max_boxes, 2);
    std::size_t total = 0; // boxes that there would be without a limit
    std::vector<bool> met(tree.size(), false);
    std::vector<id> closed_at(tree.size(), no_id); // the closed module right below an open one
    for (id m = 1; m < tree.size(); ++m) {
        const auto above = tree.parent(m);
        closed_at[m] = result.open[m] ? no_id : result.open[above] ? m : closed_at[above];
    }
    for (std::size_t v = 0; v < module.size(); ++v) {
        if (shown[v] && tree.is_ancestor(options.root, module[v])) {
            const bool direct = result.open[module[v]];
            const auto closed = direct ? no_id : closed_at[module[v]];
            total += direct || !met[closed] ? 1U : 0U;
            if (!direct) {
                met[closed] = true;
            }
        }
    }
    id rest = no_id;
    for (id v = 0; v < module.size(); ++v) {
        if (!shown[v] || !tree.is_ancestor(options.root, module[v])) {
            continue;
        }
        const bool direct = result.open[module[v]];
        const auto closed = direct ? no_id : closed_at[module[v]];
        auto box = direct ? no_id : box_of_module[closed];
        if (box == no_id) {
            const bool fits = total <= most || result.boxes.size() + 1 < most;
            if (!fits && rest != no_id) {
                box = rest;
            } else {
                box = static_cast<id>(result.boxes.size());
                result.boxes.push_back(
                    !fits    ? folded_box{box_kind::rest, options.root, options.root, 0}
                    : direct ? folded_box{box_kind::one_operator, v, module[v], 0}
                             : folded_box{box_kind::closed_module, closed, tree.parent(closed), 0});
                rest = fits ? rest : box;
            }
            if (!direct) {
                box_of_module[closed] = box;
            }
        }
        result.box_of[v] = box;
        ++result.boxes[box].operators;
    }
    std::vector<std::tuple<id, id, id>> flows; // from, to, value
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto to = result.box_of[index_of(graph, *it)];
        if (to == no_id) {
            continue;
        }
        for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
            const auto from = result.box_of[index_of(graph, source(*in, graph))];
            if (from != no_id && from != to) {
                flows.emplace_back(from, to, value_on(graph, *in));
            }
        }
    }
    std::sort(flows.begin(), flows.end());
    flows.erase(std::unique(flows.begin(), flows.end()), flows.end());
    for (const auto& [from, to, value] : flows) {
        if (result.edges.empty() || result.edges.back().from != from ||
            result.edges.back().to != to) {
            result.edges.push_back({from, to, value, 0});
        }
        ++result.edges.back().values;
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_ALGORITHM_FOLD_GRAPH_HPP
