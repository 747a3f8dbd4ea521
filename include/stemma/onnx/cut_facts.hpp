// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_CUT_FACTS_HPP
#define STEMMA_ONNX_CUT_FACTS_HPP

#include <stemma/algorithm/boundary.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/topological_order.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/onnx/flat_graph.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace stemma {

/// A graph of a model as those see it who cut parts out of it.
struct cut_facts {
    nested_view view;           ///< vertices, and which node each is
    std::vector<id> order;      ///< vertices, producers first; in file order where that does
    std::vector<id> rank;       ///< by vertex: place in `order`, `no_id` on a circle
    bool sorted_already = true; ///< file order is one in which the graph can run
    vertex_set set{0}; ///< `apart`: what is constant; `inside` is for the part being planned

    /// `is_constant(node)` says what every reader gets a copy of. Complexity: O(nodes + edges).
    template <class IsConstant>
    cut_facts(const onnx_model& model, const graph_contents& contents, id g, IsConstant is_constant)
        : view(nested_graph(model, g, contents.nodes(g), contents.bodies(g)))
        , order(topological_order(view.graph))
        , rank(num_vertices(view.graph), no_id)
        , sorted_already(is_topologically_indexed(view.graph))
        , set(num_vertices(view.graph)) {
        if (sorted_already) {
            std::sort(order.begin(), order.end());
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            rank[order[i]] = static_cast<id>(i);
        }
        for (id v = 0; v < set.apart.size(); ++v) {
            set.apart[v] = rank[v] == no_id || is_constant(view.nodes[v]);
        }
    }

    /// Takes vertices into the set that is being planned, or out of it again.
    /// Complexity: O(members).
    void put_inside(std::span<const id> members, bool inside) {
        for (auto v : members) {
            set.inside[v] = inside;
        }
    }

    /// Whether all of some vertices are constant.
    [[nodiscard]] bool are_apart(std::span<const id> members) const {
        return std::all_of(members.begin(), members.end(), [&](id v) { return set.apart[v]; });
    }

    /// Says of vertices whether every reader gets a copy of them. Complexity: O(members).
    void put_apart(std::span<const id> members, bool apart) {
        for (auto v : members) {
            set.apart[v] = apart;
        }
    }

    /// Returns: the part of the order that members are in. Requires: they are on no circle.
    [[nodiscard]] order_stretch<operator_graph> stretch(std::span<const id> members) const {
        return {view.graph, order, rank, members};
    }
};

} // namespace stemma

#endif // STEMMA_ONNX_CUT_FACTS_HPP
