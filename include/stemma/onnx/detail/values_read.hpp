// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_VALUES_READ_HPP
#define STEMMA_ONNX_DETAIL_VALUES_READ_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <set>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the values a node reads, by slot, `no_id` for omitted ones; then those its bodies
/// capture, each once, in the order of readers. Complexity: O(nodes inside).
[[nodiscard]] inline std::vector<id> values_read(const onnx_model& model,
                                                 const graph_contents& contents, id node) {
    const auto direct = model.inputs(node);
    std::vector<id> values(direct.begin(), direct.end());
    if (contents.bodies_of(node).empty()) {
        return values;
    }
    std::set<id> bodies;
    std::set<id> seen;
    std::vector<id> open(contents.bodies_of(node).begin(), contents.bodies_of(node).end());
    while (!open.empty()) {
        const auto g = open.back();
        open.pop_back();
        bodies.insert(g);
        for (auto inside : contents.own_nodes(g)) {
            const auto inner = contents.bodies_of(inside);
            open.insert(open.end(), inner.begin(), inner.end());
        }
    }
    const auto capture = [&](id value) {
        if (value != no_id && !bodies.contains(model.graph_of_value(value)) &&
            seen.insert(value).second) {
            values.push_back(value);
        }
    };
    for (auto g : bodies) {
        for (auto inside : contents.own_nodes(g)) {
            for (auto value : model.inputs(inside)) {
                capture(value);
            }
        }
        for (auto value : model.graph(g).outputs) {
            capture(value);
        }
    }
    return values;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_VALUES_READ_HPP
