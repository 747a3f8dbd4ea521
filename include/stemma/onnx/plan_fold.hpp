// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_PLAN_FOLD_HPP
#define STEMMA_ONNX_PLAN_FOLD_HPP

#include <stemma/algorithm/fold_regions.hpp>
#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/topological_order.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/parameter_owners.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_members.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/onnx/flat_graph.hpp>
#include <stemma/onnx/fold_constants.hpp>
#include <stemma/onnx/fold_plan.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/operator_dependence.hpp>
#include <stemma/onnx/region_classes.hpp>
#include <stemma/policy/fold.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stemma {

namespace detail {

/// Returns: which call of module `m` an operator belongs to; `no_id` where that is not known.
template <module_view Modules>
[[nodiscard]] id call_in(const Modules& modules, id m, const attribution& made) {
    if constexpr (counts_calls<Modules>) {
        const auto called = nearest_called(modules, m);
        return modules.calls(called) == 1
                   ? 0
                   : call_of(called, made, [&](id module) { return modules.calls(module); });
    }
    return no_id;
}

/// Returns: how many operators in bodies and functions are in modules that fold.
template <module_view Modules, class Folds>
[[nodiscard]] std::size_t count_nested(const onnx_model& model, const Modules& modules,
                                       std::span<const attribution> attributions, Folds folds) {
    std::vector<bool> in_folded(modules.index().size(), false);
    for (id m = 1; m < in_folded.size(); ++m) {
        in_folded[m] = in_folded[modules.index().parent(m)] || folds(m);
    }
    std::size_t count = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        count += model.graph_of(node) != 0 && in_folded[attributions[node].module] ? 1U : 0U;
    }
    return count;
}

} // namespace detail

/// Plans which operators of the main graph become functions, one inside the other as the modules
/// are. Operators with bodies go along as they are; those in bodies and functions stay there.
///
/// `attributions` says by node the deepest module and the call.
/// Throws: `error` of `error_code::malformed` when the main graph has a cycle or defines a value
///   twice.
/// Complexity: O((V + E) log V) for every level of modules that fold.
template <module_view Modules, node_shapes_like Shapes, fold_policy<Modules> Policy>
[[nodiscard]] fold_plan plan_fold(const onnx_model& model, const graph_contents& contents,
                                  const Modules& modules, std::span<const attribution> attributions,
                                  Shapes& shapes, const Policy& policy) {
    if (!model.redefined().empty()) {
        STEMMA_THROW(error(error_code::malformed, "",
                           std::string(model.value_name(model.redefined().front())),
                           "the model defines this value twice"));
    }
    const auto view = nested_graph(model, 0, contents.nodes(0), contents.bodies(0));
    std::vector<id> order(view.nodes.size());
    std::iota(order.begin(), order.end(), id{0});
    if (!is_topologically_indexed(view.graph)) {
        order = topological_order(view.graph);
    }
    if (order.size() < view.nodes.size()) {
        STEMMA_THROW(error(error_code::malformed, "", "", "the main graph has a cycle"));
    }
    std::vector<id> rank(order.size());
    for (id i = 0; i < order.size(); ++i) {
        rank[order[i]] = i;
    }
    std::vector<id> module(view.nodes.size());
    for (id v = 0; v < module.size(); ++v) {
        module[v] = attributions[view.nodes[v]].module;
    }
    const auto dependence_of = find_dependence(model, find_random_operators(model));
    const auto folds = [&](id m) { return policy.folds(modules, m); };
    auto found = fold_regions(
        view.graph, std::span<const id>(order), modules.index(), std::span<const id>(module),
        policy.least_nodes(), folds,
        [&](id m, id v) { return detail::call_in(modules, m, attributions[view.nodes[v]]); },
        [&](id v) { return dependence_of[view.nodes[v]] <= dependence::weight; });
    const auto spread = spread_constants(model, view, found.regions);
    const auto least = policy.least_nodes();
    dissolve_regions(found, find_idle_regions(model, view, spread, least, found.regions));
    fold_plan plan;
    plan.regions = std::move(found.regions);
    plan.left = std::move(found.left);
    plan.in_bodies = detail::count_nested(model, modules, attributions, folds);
    classify_regions(model, contents, modules, view, rank, spread, attributions, shapes, policy,
                     plan);
    if (policy.varies_constants()) {
        find_varying_constants(model, view.nodes, plan,
                               [&](id a, id b) { return shapes.equal(a, b, false); });
    }
    return plan;
}

} // namespace stemma

#endif // STEMMA_ONNX_PLAN_FOLD_HPP
