// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_PLAN_HPP
#define STEMMA_FOLD_DETAIL_FOLD_PLAN_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/fold/detail/fold_regions.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A planned function.
struct planned_function {
    std::string domain; ///< from the policy: the package
    std::string name;   ///< from the policy: the class
    id number = 0;      ///< distinguishes functions with the same name; 0 for the first
    id region = 0;      ///< the first of those that call it; its body is the function's
    id calls = 0;       ///< regions that call it, in the whole model
    id activations = 0; ///< number of inputs other than initializers; they come first
    id attributes = 0;  ///< constants that differ from call to call
    /// By constant in inlining order: the attribute with its value, or `no_id`. Empty if constants
    /// may not vary.
    std::vector<id> slots{};

    /// Returns: the name, with the number unless 0: `Layer.1`.
    [[nodiscard]] std::string numbered() const {
        return number == 0 ? name : name + "." + std::to_string(number);
    }
};

/// A plan for turning the graphs of a model into function calls.
///
/// Regions of the main graph come first, then those of bodies, graph by graph. The first region of
/// a graph is the graph itself; its `parent` is the region that holds the operator with the body.
struct fold_plan {
    std::vector<fold_region> regions; ///< items are nodes
    std::vector<id> graph;            ///< by region: the graph of its items
    std::vector<id> root;             ///< by graph: its first region; `no_id` for none
    std::vector<std::string> paths;   ///< by region: the path from the enclosing module to its own
    std::vector<id> function;         ///< by region; `no_id` for graphs
    std::vector<std::vector<id>> inputs;  ///< by region: values, by slot of its function
    std::vector<std::vector<id>> outputs; ///< by region: values, by slot of its function
    /// By region: the Constants in it and in nested regions, in inlining order. Empty if constants
    /// may not vary.
    std::vector<std::vector<id>> constants;
    std::vector<planned_function> functions; ///< each after its callees
    /// Nodes of bodies in functions, outside calls, of another module than the function: the region
    /// of the owner of the outermost such body.
    std::unordered_map<id, id> noted;
    std::unordered_set<id>
        holders; ///< nodes whose bodies, at any depth, contain such nodes or calls
    /// Regions that are graphs of the folded model, in its order: the main graph, then bodies,
    /// without those in other calls of a shared function.
    std::vector<id> graphs;
    std::vector<fold_leftover> left; ///< regions that did not fold
    std::size_t in_bodies = 0;       ///< operators left behind in bodies and functions

    /// Whether a region is a graph.
    [[nodiscard]] bool is_graph(id region) const { return root[graph[region]] == region; }

    /// Whether the bodies of a node change, at any depth.
    [[nodiscard]] bool changes_inside(id node) const {
        return !holders.empty() && holders.contains(node);
    }

    /// Visits a body: calls `in_region(r)` if it is region `r`, else `in_body(node)` for each node.
    /// Complexity: O(nodes of the body).
    template <class InRegion, class InBody>
    void look_into(id body, const graph_contents& contents, InRegion in_region,
                   InBody in_body) const {
        if (root[body] != no_id) {
            in_region(root[body]);
            return;
        }
        for (auto node : contents.own_nodes(body)) {
            in_body(node);
        }
    }

    /// Calls `f(value)` for the outputs of a region's items, in order.
    /// Requires: `outputs` are known. Complexity: O(items + values).
    template <class Function>
    void for_each_made(const onnx_model& model, id region, Function f) const {
        for (const auto& item : regions[region].items) {
            if (item.is_region) {
                for (auto value : outputs[item.index]) {
                    f(value);
                }
                continue;
            }
            for (auto value : model.outputs(item.index)) {
                f(value);
            }
        }
    }

    /// Returns: the number of calls.
    [[nodiscard]] std::size_t call_count() const {
        return static_cast<std::size_t>(
            detail::range::count_if(function, [](id f) { return f != no_id; }));
    }

    /// Returns: the region that provides the function body of a region; for a graph, itself.
    [[nodiscard]] id body_of(id region) const {
        return is_graph(region) ? region : functions[function[region]].region;
    }
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLD_PLAN_HPP
