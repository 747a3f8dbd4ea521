// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_ONNX_OPERATORS_HPP
#define STEMMA_ONNX_ONNX_OPERATORS_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/onnx_nodes.hpp>

#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The nodes of an ONNX model as an operator view over its flat graph.
///
/// `Model` is `wire_model`, which also knows metadata, or plain `onnx_model`.
template <class Model = onnx_model>
class onnx_operators : public onnx_nodes<Model> {
public:
    /// Vertices are nodes by number.
    using graph_type = operator_graph;

    /// Requires: `model` outlives the view.
    /// Complexity: O(nodes + values).
    explicit onnx_operators(const Model& model)
        : onnx_operators(onnx_nodes<Model>(model), detail::flat_graph(model)) {}

    /// Requires: `graph` is the `flat_graph` of the nodes' model.
    onnx_operators(onnx_nodes<Model> nodes, operator_graph graph) noexcept
        : onnx_nodes<Model>(std::move(nodes)), graph_(std::move(graph)) {}

    /// See `flat_graph`; valid as long as the view.
    [[nodiscard]] const operator_graph& graph() const noexcept { return graph_; }

    /// Whether an If or a Loop reads its condition along this edge.
    [[nodiscard]] bool reads_condition(const operator_graph::edge& e) const {
        const auto slot = get(detail::in_port, graph_, e);
        return (slot == 0 && this->op_type(e.target) == "If") ||
               (slot == 1 && this->op_type(e.target) == "Loop");
    }

    /// Returns: the nodes that make the results of the main graph, in the order of these.
    /// Complexity: O(graphs + results).
    [[nodiscard]] std::vector<id> result_makers() const {
        std::vector<id> makers;
        for (id g = 0; g < this->model().graph_count(); ++g) {
            const auto& graph = this->model().graph(g);
            for (const id value : graph.outputs) {
                const id maker = graph.kind == graph_kind::main && value != no_id
                                     ? this->model().producer(value)
                                     : no_id;
                if (maker != no_id) {
                    makers.push_back(maker);
                }
            }
        }
        return makers;
    }

private:
    operator_graph graph_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_ONNX_OPERATORS_HPP
