// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_CALLED_FUNCTIONS_HPP
#define STEMMA_ONNX_DETAIL_CALLED_FUNCTIONS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_set>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds the functions of a model that nodes call, directly, from their bodies, or from functions
/// they call.
///
/// `visit(node)` is called for every node that runs when these do.
/// Returns: numbers of functions, ascending. Complexity: O(nodes visited), expected.
template <class Visit>
[[nodiscard]] std::vector<id> called_functions(const onnx_model& model,
                                               const graph_contents& contents,
                                               std::span<const id> nodes, Visit visit) {
    std::vector<id> result;
    std::unordered_set<id> seen;
    const auto look = [&](auto& self, id node) -> void {
        visit(node);
        if (const auto f = model.callee(node); f != no_id && seen.insert(f).second) {
            result.push_back(f);
        }
        for (auto inside : contents.inner_nodes(node)) {
            self(self, inside);
        }
    };
    for (auto node : nodes) {
        look(look, node);
    }
    for (std::size_t i = 0; i < result.size(); ++i) {
        for (auto node : contents.nodes(model.functions()[result[i]].graph)) {
            look(look, node);
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

/// Returns: the graphs of the functions that the main graph does not call, directly or indirectly.
/// Complexity: O(nodes), expected.
[[nodiscard]] inline std::vector<id> uncalled_functions(const onnx_model& model,
                                                        const graph_contents& contents) {
    std::vector<id> uncalled;
    if (!model.functions().empty()) {
        const auto called = called_functions(model, contents, contents.nodes(0), [](id) {});
        for (id f = 0; f < model.functions().size(); ++f) {
            if (!std::binary_search(called.begin(), called.end(), f)) {
                uncalled.push_back(model.functions()[f].graph);
            }
        }
    }
    return uncalled;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_CALLED_FUNCTIONS_HPP
