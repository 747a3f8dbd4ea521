// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_REGION_EXPORTS_HPP
#define STEMMA_FOLD_DETAIL_REGION_EXPORTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/fold/detail/fold_constants.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
#include <stemma/fold/detail/fold_regions.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A graph of a model that has regions.
struct divided_graph {
    id graph = 0;             ///< its number in the model
    nested_view view;         ///< vertices are its nodes, bodies contracted
    std::vector<id> rank;     ///< by vertex: a topological rank
    std::vector<bool> spread; ///< by vertex: whether it is in every region that reads it
    graph_results leaving{};  ///< needed outside it
};

/// Calls `f(region, value)` for every region of a graph and every value produced in it and read
/// elsewhere. `place` is the region by node.
/// Complexity: O(V + E) per level of nesting.
template <class Function>
void find_exports(const onnx_model& model, const divided_graph& graph, std::span<const id> place,
                  const fold_plan& plan, Function f) {
    const auto& view = graph.view;
    const auto root = plan.root[graph.graph];
    std::unordered_map<id, id> outermost; // of one vertex: value -> region it does not leave
    for (id v = 0; v < view.nodes.size(); ++v) {
        const auto node = view.nodes[v];
        const auto own = place[node];
        if (own == root || graph.spread[v]) {
            continue;
        }
        outermost.clear();
        const auto widen = [&](id value, id reader) {
            auto& r = outermost.try_emplace(value, own).first->second;
            while (!holds_region(plan.regions, r, reader)) {
                r = plan.regions[r].parent;
            }
        };
        for (auto [it, last] = out_edges(v, view.graph); it != last; ++it) {
            widen(get(value_index, view.graph, *it), place[view.nodes[(*it).target]]);
        }
        for (id i = 0; i < model.output_count(node); ++i) {
            const auto value = model.first_output(node) + i;
            if (graph.leaving.contains(value)) {
                widen(value, root);
            }
            const auto entry = outermost.find(value);
            if (entry == outermost.end()) {
                continue;
            }
            for (auto r = own; r != entry->second; r = plan.regions[r].parent) {
                f(r, value);
            }
        }
    }
}

/// Returns: for values produced in region `region`, and others of the same nodes, the rank of the
/// first reader outside; values without one are missing.
/// Complexity: O(values + readers) expected.
[[nodiscard]] inline std::unordered_map<id, id>
first_uses(const onnx_model& model, const divided_graph& graph, std::span<const id> place,
           const fold_plan& plan, id region, std::span<const id> values) {
    const auto& view = graph.view;
    std::unordered_map<id, id> first;
    std::unordered_set<id> seen; // producers: the edges of one are those of all its values
    for (auto value : values) {
        const auto producer = model.producer(value);
        if (!seen.insert(producer).second) {
            continue;
        }
        for (auto [it, last] = out_edges(model.position(producer), view.graph); it != last; ++it) {
            const auto reader = (*it).target;
            if (!holds_region(plan.regions, region, place[view.nodes[reader]])) {
                auto& rank =
                    first.try_emplace(get(value_index, view.graph, *it), no_id).first->second;
                rank = std::min(rank, graph.rank[reader]);
            }
        }
    }
    return first;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_REGION_EXPORTS_HPP
