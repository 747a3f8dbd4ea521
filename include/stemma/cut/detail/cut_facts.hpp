// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_CUT_FACTS_HPP
#define STEMMA_CUT_DETAIL_CUT_FACTS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/topological_order.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/detail/find_reentry.hpp>
#include <stemma/cut/detail/vertex_set.hpp>
#include <stemma/model/dependence.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/onnx/detail/called_functions.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/detail/operator_dependence.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What cuts of a model share.
struct shared_cut_facts {
    /// Complexity: that of `find_dependence`, and a call of `given` per value.
    shared_cut_facts(const onnx_model& model, std::vector<bool> is_random,
                     const std::function<bool(std::string_view)>& given)
        : contents(model)
        , uncalled(uncalled_functions(model, contents))
        , random(std::move(is_random))
        , depends_on(find_dependence(model, random))
        , exposed(model.value_count(), false)
        , returning(model.node_count(), false) {
        for (id g = 0; g < model.graph_count(); ++g) {
            for (auto value : model.graph(g).outputs) {
                if (value != no_id) {
                    exposed[value] = true;
                    if (model.producer(value) != no_id) {
                        returning[model.producer(value)] = true;
                    }
                }
            }
        }
        for (id value = 0; given && value < model.value_count(); ++value) {
            const auto producer = model.producer(value);
            if (producer != no_id && model.graph_of_value(value) == 0 &&
                depends_on[producer] != dependence::constant && given(model.value_name(value))) {
                depends_on[producer] = dependence::data;
            }
        }
    }

    graph_contents contents;
    std::vector<id> uncalled;           ///< graphs of functions that never run
    std::vector<bool> random;           ///< by node
    std::vector<dependence> depends_on; ///< by node; data if its results are `given`
    std::vector<bool> exposed;          ///< by value: it is an output of a graph
    std::vector<bool> returning;        ///< by node: it makes such an output
};

/// A graph of a model in an order of execution.
struct ordered_graph {
    nested_view view;           ///< vertices, and which node each is
    std::vector<id> order;      ///< vertices, producers first; in file order if possible
    std::vector<id> rank;       ///< by vertex: place in `order`, `no_id` on a cycle
    bool sorted_already = true; ///< file order is topological

    /// Complexity: O(nodes + edges).
    ordered_graph(const onnx_model& model, const graph_contents& contents, id g)
        : view(nested_graph(model, g, contents.nodes(g), contents.bodies(g)))
        , rank(num_vertices(view.graph), no_id)
        , sorted_already(is_topologically_indexed(view.graph)) {
        order.reserve(rank.size());
        sweep_order(view.graph).forward([&](id v) {
            rank[v] = static_cast<id>(order.size());
            order.push_back(v);
        });
    }
};

/// A graph of a model prepared for cutting. Copies share the graph, but have separate vertex sets.
class cut_facts {
public:
    /// `is_constant(node)` marks nodes copied to every reader. Complexity: O(nodes + edges).
    template <class IsConstant>
    cut_facts(const onnx_model& model, const graph_contents& contents, id g, IsConstant is_constant)
        : set(contents.own_nodes(g).size())
        , graph_(std::make_shared<const ordered_graph>(model, contents, g)) {
        for (id v = 0; v < set.apart.size(); ++v) {
            set.apart[v] = rank()[v] == no_id || is_constant(view().nodes[v]);
        }
    }

    /// Returns: the vertices with their nodes.
    [[nodiscard]] const nested_view& view() const noexcept { return graph_->view; }

    /// Returns: vertices, producers first; in file order if possible.
    [[nodiscard]] const std::vector<id>& order() const noexcept { return graph_->order; }

    /// Returns: by vertex the place in `order`, `no_id` on a cycle.
    [[nodiscard]] const std::vector<id>& rank() const noexcept { return graph_->rank; }

    /// Whether file order is topological.
    [[nodiscard]] bool sorted_already() const noexcept { return graph_->sorted_already; }

    /// Adds vertices to the planned set, or removes them.
    /// Complexity: O(members).
    void put_inside(std::span<const id> members, bool inside) {
        for (auto v : members) {
            set.inside[v] = inside;
        }
    }

    /// Whether all of some vertices are constant.
    [[nodiscard]] bool are_apart(std::span<const id> members) const {
        return detail::range::all_of(members, [&](id v) { return set.apart[v]; });
    }

    /// Sets whether vertices are copied to every reader. Complexity: O(members).
    void put_apart(std::span<const id> members, bool apart) {
        for (auto v : members) {
            set.apart[v] = apart;
        }
    }

    /// Returns: the range of the order that covers the members. Requires: they are on no cycle.
    [[nodiscard]] order_stretch<operator_graph> stretch(std::span<const id> members) const {
        return {view().graph, order(), rank(), members};
    }

    /// Calls `what` with the set and the stretch of its members, see `find_on_paths`.
    template <cut_policy Policy, class Find>
    [[nodiscard]] auto find(const Policy& policy, std::span<const id> members, Find what) {
        return find_on_paths(policy, view().graph, set, stretch(members), what);
    }

    /// Returns: a path from a member out and back, see `find_way_back`.
    template <cut_policy Policy>
    [[nodiscard]] std::vector<id> way_back(const Policy& policy, std::span<const id> members) {
        return find_way_back(policy, view().graph, set, stretch(members));
    }

    vertex_set set; ///< `apart`: constants; `inside`: the planned part

private:
    std::shared_ptr<const ordered_graph> graph_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_CUT_FACTS_HPP
