// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_PARTITION_GRAPH_HPP
#define STEMMA_CUT_PARTITION_GRAPH_HPP

#include <stemma/config.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/acyclic_partition.hpp>
#include <stemma/cut/partition.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: what is wrong with a policy's plan for `count` vertices and `modules` modules; "" if
/// nothing. Complexity: O(vertices + parts).
[[nodiscard]] inline std::string_view find_partition_fault(const partition_plan& plan,
                                                           std::size_t count, std::size_t modules) {
    if (plan.part_of.size() != count) {
        return "partition: not every vertex has a part";
    }
    if (std::any_of(plan.part_of.begin(), plan.part_of.end(),
                    [&](id p) { return p >= plan.parts; })) {
        return "partition: a vertex is assigned to a nonexistent part";
    }
    if (!plan.module_of.empty() && plan.module_of.size() != plan.parts) {
        return "partition: not every part has a module";
    }
    if (std::any_of(plan.module_of.begin(), plan.module_of.end(),
                    [&](id m) { return m >= modules; })) {
        return "partition: a part names a nonexistent module";
    }
    return {};
}

/// Turns a plan into pieces that can run in sequence: parts on cycles are divided by level, and
/// with `joins`, levels are merged again where possible.
///
/// Requires: a valid plan without refusal. Complexity: that of sorting the vertices by part, of
/// `make_acyclic` and `join_levels`.
template <operator_graph_like Graph>
[[nodiscard]] acyclic_partition make_pieces(const partition_problem<Graph>& problem,
                                            const partition_plan& plan, bool joins = false) {
    auto used = plan.part_of; // parts with vertices: a plan may number them sparsely
    used = detail::range::each_once(std::move(used));
    std::vector<id> part(num_vertices(problem.graph), no_id);
    for (std::size_t i = 0; i < problem.order.size(); ++i) {
        const auto it = std::lower_bound(used.begin(), used.end(), plan.part_of[i]);
        part[index_of(problem.graph, problem.order[i])] = static_cast<id>(it - used.begin());
    }
    auto result =
        make_acyclic(problem.graph, std::span<const id>(part), used.size(), problem.order);
    for (auto& piece : result.pieces) {
        piece.part = used[piece.part];
    }
    if (joins) {
        join_levels(problem.graph, result);
    }
    return result;
}

} // namespace detail

/// Divides any graph by a policy into pieces that can run in sequence.
///
/// Returns: no pieces, but a `refusal`, for a policy that refuses or returns an invalid plan.
/// Complexity: that of the policy and of `make_acyclic`.
template <operator_graph_like Graph, partition_policy<Graph> Policy>
[[nodiscard]] acyclic_partition partition_graph(const partition_problem<Graph>& problem,
                                                const Policy& policy, bool joins = false) {
    partition_plan plan = policy.partition(problem);
    const auto modules = problem.modules == nullptr ? 0 : problem.modules->size();
    if (plan.refusal.empty()) {
        plan.refusal = detail::find_partition_fault(plan, problem.order.size(), modules);
    }
    if (!plan.refusal.empty()) {
        return {{}, {}, std::move(plan.refusal)};
    }
    return detail::make_pieces(problem, plan, joins);
}

/// Rejects other policies, with an explanation.
template <class Graph, class Policy>
    requires(!partition_policy<Policy, Graph>)
acyclic_partition partition_graph(const partition_problem<Graph>&, const Policy&,
                                  bool /*joins*/ = false) {
    static_assert(explain_policy<partition_category, Policy, Graph>());
    return {};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_PARTITION_GRAPH_HPP
