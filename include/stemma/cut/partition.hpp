// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_PARTITION_HPP
#define STEMMA_CUT_PARTITION_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/held_policy.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/cut/acyclic_partition.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// A graph to divide into parts that run in sequence. Refers to what it was made from.
template <class Graph>
struct partition_problem {
    static_assert(explain_operator_graph<Graph>());

    const Graph& graph;                     ///< any Boost graph, such as `operator_graph`
    std::span<const vertex_t<Graph>> order; ///< the vertices to divide, in topological order
    std::span<const std::uint64_t> costs;   ///< by position in `order`
    std::span<const id> module_of = {};     ///< by position in `order`; empty if there are none
    const tree_index* modules = nullptr;    ///< their tree, or null
};

/// The part of each vertex. Parts need not be convex: those on cycles are divided further.
struct partition_plan {
    std::size_t parts = 0;       ///< their number; parts may be empty
    std::vector<id> part_of{};   ///< by position in the order, each below `parts`
    std::vector<id> module_of{}; ///< by part: the module it is named after; empty: common ancestors
    std::string refusal{};       ///< why the graph cannot be divided; "" if it can
};

namespace detail {

template <class P, class Graph>
concept has_partition = requires(const P& policy, const partition_problem<Graph>& problem) {
    { policy.partition(problem) } -> std::convertible_to<partition_plan>;
};

/// Returns: by position in the order, a lower bound on the values that cross a cut before it.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<std::int64_t> count_crossing(const Graph& graph,
                                                       std::span<const vertex_t<Graph>> order) {
    std::vector<std::int64_t> crossing(order.size() + 1, 0);
    std::vector<id> place(num_vertices(graph), no_id);
    for (std::size_t i = 0; i < order.size(); ++i) {
        place[index_of(graph, order[i])] = static_cast<id>(i);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::size_t last_reader = i;
        for (auto [it, last] = out_edges(order[i], graph); it != last; ++it) {
            const auto reader = place[index_of(graph, target(*it, graph))];
            last_reader =
                reader == no_id ? last_reader : std::max<std::size_t>(last_reader, reader);
        }
        ++crossing[i + 1];
        if (last_reader + 1 < crossing.size()) {
            --crossing[last_reader + 1];
        }
    }
    std::partial_sum(crossing.begin(), crossing.end(), crossing.begin());
    return crossing;
}

/// Returns: a plan with a part for each module for which `is_part(m)` holds, and for the root.
template <class Graph, class IsPart>
[[nodiscard]] partition_plan plan_by_module(const partition_problem<Graph>& problem,
                                            IsPart is_part) {
    partition_plan plan;
    if (problem.modules == nullptr) {
        plan.refusal = "by module: the graph has none";
        return plan;
    }
    const auto& modules = *problem.modules;
    plan.parts = modules.size();
    plan.module_of.resize(modules.size());
    for (id m = 1; m < modules.size(); ++m) {
        plan.module_of[m] = is_part(m) ? m : plan.module_of[modules.parent(m)];
    }
    for (auto m : problem.module_of) {
        plan.part_of.push_back(m == no_id ? 0 : plan.module_of[m]);
    }
    std::iota(plan.module_of.begin(), plan.module_of.end(), id{0});
    return plan;
}

} // namespace detail

/// Divides a graph into parts.
///
/// `partition(problem)` returns a `partition_plan`. Requires: it is deterministic.
template <class P, class Graph = operator_graph>
concept partition_policy =
    detail::policy_for<P, partition_category> && detail::has_partition<P, Graph>;

/// Exactly so many parts of about equal cost, each a range of the order: none exceeds the mean by
/// more than the most expensive vertex. Among equally balanced cuts, the one with the fewest
/// crossing values, between modules, is chosen.
struct balanced_parts {
    using policy_category = partition_category;

    std::size_t parts = 2; ///< from one to the number of vertices

    template <operator_graph_like Graph>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        partition_plan plan;
        const auto size = problem.order.size();
        if (parts == 0 || parts > size) {
            plan.refusal = "into " + std::to_string(parts) +
                           " parts: the number of nodes that are not constant is " +
                           std::to_string(size);
            return plan;
        }
        std::uint64_t total = 0;
        for (const auto cost : problem.costs) {
            total = cost > ~total ? ~std::uint64_t{0} : total + cost;
        }
        if (total == ~std::uint64_t{0}) {
            plan.refusal = "into parts of equal cost: the sum of the costs is too large";
            return plan;
        }
        const auto crossing = detail::count_crossing(problem.graph, problem.order);
        const auto depth_between = [&](std::size_t i) -> id {
            return problem.modules == nullptr
                       ? 0
                       : problem.modules->depth(
                             problem.modules->lca(problem.module_of[i - 1], problem.module_of[i]));
        };
        auto begins = divide_evenly(problem.costs, parts, [&](std::size_t i) {
            return std::pair(crossing[i], depth_between(i));
        });
        begins.push_back(size);
        plan.parts = parts;
        plan.part_of.resize(size);
        for (std::size_t p = 0; p < parts; ++p) {
            std::fill(plan.part_of.begin() + static_cast<std::ptrdiff_t>(begins[p]),
                      plan.part_of.begin() + static_cast<std::ptrdiff_t>(begins[p + 1]),
                      static_cast<id>(p));
        }
        return plan;
    }
};

/// A part for each module down to a depth (the root has 0), including deeper descendants.
struct parts_by_depth {
    using policy_category = partition_category;

    id depth = 1; ///< `no_id`: a part for each module

    template <operator_graph_like Graph>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        return detail::plan_by_module(problem,
                                      [&](id m) { return problem.modules->depth(m) <= depth; });
    }
};

/// A part for each of some modules, including descendants that are in none of the others; the rest
/// is a part of the root.
struct parts_by_modules {
    using policy_category = partition_category;

    std::vector<id> modules{}; ///< in any order

    template <operator_graph_like Graph>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        std::vector<bool> wanted(problem.modules == nullptr ? 0 : problem.modules->size(), false);
        for (auto m : modules) {
            if (m < wanted.size()) {
                wanted[m] = true;
            }
        }
        return detail::plan_by_module(problem, [&](id m) { return bool{wanted[m]}; });
    }
};

/// A part for every `levels` levels: the level of a vertex is the length of the longest path to it.
struct parts_by_level {
    using policy_category = partition_category;

    id levels = 1; ///< per part; 0 counts as 1

    template <operator_graph_like Graph>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        const auto& graph = problem.graph;
        std::vector<id> behind(num_vertices(graph), 0); // level + 1
        partition_plan plan;
        for (const auto& v : problem.order) {
            id level = 0;
            for (auto [it, last] = in_edges(v, graph); it != last; ++it) {
                level = std::max(level, behind[detail::index_of(graph, source(*it, graph))]);
            }
            behind[detail::index_of(graph, v)] = level + 1;
            plan.part_of.push_back(level / std::max<id>(levels, 1));
            plan.parts = std::max<std::size_t>(plan.parts, plan.part_of.back() + 1);
        }
        return plan;
    }
};

/// Parts given by a rule: `rule(vertex)` returns the part, below `parts`.
template <class Rule>
struct parts_by_rule {
    using policy_category = partition_category;

    std::size_t parts; ///< their number
    Rule rule;         ///< such as a lambda

    template <operator_graph_like Graph>
        requires std::invocable<const Rule&, vertex_t<Graph>>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        partition_plan plan{parts};
        for (const auto& v : problem.order) {
            plan.part_of.push_back(static_cast<id>(rule(v)));
        }
        return plan;
    }
};

/// Deduces the rule.
template <class Rule>
parts_by_rule(std::size_t, Rule) -> parts_by_rule<Rule>;

/// Put `static_assert(explain_policy<partition_category, mine>());` next to a policy that is
/// rejected.
template <std::same_as<partition_category> Role, class P, class Graph = operator_graph>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "partition policy: make the class copyable");
    static_assert(detail::declares<P, partition_category>,
                  "partition policy: add `using policy_category = stemma::partition_category;`");
    static_assert(detail::has_partition<P, Graph>,
                  "partition policy: add `stemma::partition_plan partition(const "
                  "stemma::partition_problem<Graph>&) const`");
    return partition_policy<P, Graph>;
}

/// Any partition policy for `Graph`.
template <operator_graph_like Graph>
class any_policy<partition_category, Graph> {
public:
    using policy_category = partition_category;

    /// Holds a copy of `chosen`.
    template <class P>
        requires(!std::same_as<P, any_policy> && partition_policy<P, Graph>)
    any_policy(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : partition_([chosen = std::move(chosen)](const partition_problem<Graph>& problem)
                         -> partition_plan { return chosen.partition(problem); }) {}

    /// Rejects other policies, with an explanation.
    template <detail::attempted_policy<any_policy> P>
        requires(!partition_policy<P, Graph>)
    any_policy(const P& /*rejected*/) { // NOLINT(google-explicit-constructor): as above
        static_assert(explain_policy<partition_category, P, Graph>());
    }

    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        return partition_(problem);
    }

private:
    std::function<partition_plan(const partition_problem<Graph>&)> partition_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_PARTITION_HPP
