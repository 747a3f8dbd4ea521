// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_DETAIL_MODULE_VALUES_HPP
#define STEMMA_NUMERICS_DETAIL_MODULE_VALUES_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/module_boundaries.hpp>
#include <stemma/onnx/detail/operator_dependence.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The observable values at module boundaries (descendants included): values of the main graph,
/// except constants.
struct module_values {
    grouped_ids inputs;  ///< by module: produced outside and read inside, inputs of the model first
    grouped_ids outputs; ///< by module: produced inside and read outside, or model outputs
    grouped_ids hidden;  ///< by module: unobservable values at its boundary, because they
                         ///< are in bodies of nodes or in functions
    std::vector<id> rank;    ///< by node: its position in execution order
    std::vector<bool> fixed; ///< by node: its results depend on weights only
};

/// Returns: by node, its position in execution order, that of the file if possible; the last for
/// nodes on a cycle. Complexity: O(V + E).
[[nodiscard]] inline std::vector<id> running_order(const operator_graph& graph) {
    std::vector<id> rank(num_vertices(graph), no_id);
    id next = 0;
    sweep_order(graph).forward([&](id v) { rank[v] = next++; });
    return rank;
}

/// Returns: the ids by module, in the order of `pairs`, without those in `drop`.
template <class Drop>
[[nodiscard]] grouped_ids grouped(std::size_t count, const std::vector<std::pair<id, id>>& pairs,
                                  Drop drop) {
    return {count, [&](auto take) {
                for (const auto& [m, value] : pairs) {
                    if (!drop(value)) {
                        take(m, value);
                    }
                }
            }};
}

/// Finds the values at all module boundaries.
/// Requires: the model keeps its evidence. Complexity: O(nodes + edges + length of the result).
[[nodiscard]] inline module_values find_module_values(const attributed_model& opened) {
    const auto& model = opened.model();
    const auto& graph = opened.operators().graph();
    const auto& tree = opened.modules().index();
    std::vector<id> module(model.node_count());
    for (id node = 0; node < model.node_count(); ++node) {
        module[node] = opened.tags().attributions[node].module;
    }
    const auto depends = find_dependence(model, find_random_operators(model));
    std::vector<bool> constant(model.node_count());
    std::vector<bool> fixed(model.node_count());
    for (id node = 0; node < model.node_count(); ++node) {
        constant[node] = depends[node] == dependence::constant;
        fixed[node] = depends[node] <= dependence::weight;
    }
    std::vector<bool> given(model.value_count(), false); // outputs of graphs without owner
    for (id g = 0; g < model.graph_count(); ++g) {
        for (const auto value : model.graph(g).outputs) {
            if (value != no_id && model.graph(g).kind != graph_kind::body) {
                given[value] = true;
            }
        }
    }
    std::vector<id> leaving;
    const auto boundaries = find_module_boundaries(graph, tree, module, constant, [&](id node) {
        leaving.clear();
        for (auto value : model.outputs(node)) {
            if (given[value]) {
                leaving.push_back(value);
            }
        }
        return leaving;
    });
    // Inputs of the model, without a producer.
    std::vector<std::pair<id, id>> in;
    std::vector<std::unordered_set<id>> met(tree.size());
    for (id node = 0; node < model.node_count(); ++node) {
        for (const auto value : model.inputs(node)) {
            if (value == no_id || model.kind(value) != value_kind::input) {
                continue;
            }
            for (auto m = module[node]; m != no_id && met[m].insert(value).second;
                 m = tree.parent(m)) {
                in.emplace_back(m, value);
            }
        }
    }
    std::vector<std::pair<id, id>> out;
    const std::unordered_set<id> redefined(model.redefined().begin(), model.redefined().end());
    const auto add = [&](const grouped_ids& from, std::vector<std::pair<id, id>>& to) {
        for (id m = 0; m < tree.size(); ++m) {
            for (const auto value : from[m]) {
                to.emplace_back(m, value);
            }
        }
    };
    add(boundaries.inputs, in);
    add(boundaries.outputs, out);
    const auto is_hidden = [&](id value) {
        return model.graph_of_value(value) != 0 || model.value_name(value).empty() ||
               redefined.contains(value);
    };
    const auto is_seen = [&](id value) { return !is_hidden(value); };
    return {grouped(tree.size(), in, is_hidden), grouped(tree.size(), out, is_hidden),
            grouped(tree.size(), out, is_seen), running_order(graph), std::move(fixed)};
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_NUMERICS_DETAIL_MODULE_VALUES_HPP
