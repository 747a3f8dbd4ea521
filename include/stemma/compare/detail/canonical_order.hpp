// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_CANONICAL_ORDER_HPP
#define STEMMA_COMPARE_DETAIL_CANONICAL_ORDER_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/body_place.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The nodes and graphs of a model in an order that does not depend on that of attributes and
/// functions in the file: the main graph, then functions by name. Bodies come before their owner,
/// by attribute; nodes of one graph keep their order.
struct canonical_order {
    std::vector<id> nodes;
    std::vector<id> graphs;

    /// Complexity: O(nodes + graphs * log graphs + length of names).
    explicit canonical_order(const onnx_model& model) {
        const grouped_ids members(model.graph_count(), [&](auto take) {
            for (id node = 0; node < model.node_count(); ++node) {
                take(model.graph_of(node), node);
            }
        });
        std::vector<id> bodies;
        std::vector<std::pair<std::string, id>> functions;
        for (id g = 0; g < model.graph_count(); ++g) {
            if (model.graph(g).kind == graph_kind::body) {
                bodies.push_back(g);
            } else if (model.graph(g).kind == graph_kind::function) {
                functions.emplace_back(model.graph_path(g), g);
            }
        }
        std::sort(functions.begin(), functions.end());
        std::sort(bodies.begin(), bodies.end(), [&](id x, id y) {
            return std::pair(place_of_body(model, x), x) < std::pair(place_of_body(model, y), y);
        });
        const grouped_ids owned(model.node_count(), [&](auto take) {
            for (auto g : bodies) {
                take(model.graph(g).owner, g);
            }
        });
        // From the end; what is on top of the stack comes next.
        std::vector<std::pair<bool, id>> stack{{true, 0}}; // whether it is a graph
        for (const auto& function : functions) {
            stack.emplace_back(true, function.second);
        }
        while (!stack.empty()) {
            const auto [is_graph, number] = stack.back();
            stack.pop_back();
            (is_graph ? graphs : nodes).push_back(number);
            for (auto inner : is_graph ? members[number] : owned[number]) {
                stack.emplace_back(!is_graph, inner);
            }
        }
        std::reverse(nodes.begin(), nodes.end());
        std::reverse(graphs.begin(), graphs.end());
    }
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_CANONICAL_ORDER_HPP
