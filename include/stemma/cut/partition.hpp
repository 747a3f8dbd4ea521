// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_PARTITION_HPP
#define STEMMA_CUT_PARTITION_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/concepts.hpp>
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

/// A graph that is to be divided into parts which run one after the other.
template <operator_graph_like Graph>
struct partition_problem {
    const Graph& graph;                     ///< any graph of Boost, `operator_graph` for one
    std::span<const vertex_t<Graph>> order; ///< what is to be divided, each behind its producers
    std::span<const std::uint64_t> costs;   ///< by place in `order`
    std::span<const id> module_of = {};     ///< by place in `order`; empty where there are none
    const tree_index* modules = nullptr;    ///< the tree of these, or null
};

/// Which part everything goes to. Parts need not be convex: those that read from each other in
/// circles are divided further.
struct partition_plan {
    std::size_t parts = 0;       ///< how many; a part may be empty
    std::vector<id> part_of{};   ///< by place in the order, each below `parts`
    std::vector<id> module_of{}; ///< by part, what it is named after; empty: what holds all of it
    std::string refusal{};       ///< why the graph cannot be divided like this; "" when it can
};

namespace detail {

template <class P, class Graph>
concept has_partition = requires(const P& policy, const partition_problem<Graph>& problem) {
    { policy.partition(problem) } -> std::convertible_to<partition_plan>;
};

/// Returns: by place in the order how many values cross the border in front of it, at least.
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

/// Returns: the plan of one part for each module for which `is_part(m)` holds, and the root.
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

/// Says into which parts a graph is divided.
///
/// `partition(problem)` returns a `partition_plan`; the same for the same problem.
template <class P, class Graph = operator_graph>
concept partition_policy = policy_for<P, partition_category> && detail::has_partition<P, Graph>;

/// Exactly so many parts of about equal cost, each a stretch of the order: none costs more than the
/// mean and the costliest vertex together. Where it makes no difference, borders lie where few
/// values cross, between modules.
struct balanced_parts {
    using policy_category = partition_category;

    std::size_t parts = 2; ///< at least one, at most one for each vertex

    template <operator_graph_like Graph>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        partition_plan plan;
        const auto size = problem.order.size();
        if (parts == 0 || parts > size) {
            plan.refusal = "into " + std::to_string(parts) + " parts: the graph has " +
                           std::to_string(size) + " nodes that are not constant";
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

/// One part for each module down to a depth, the root at 0, with what lies below it.
struct parts_by_depth {
    using policy_category = partition_category;

    id depth = 1; ///< `no_id`: one part for each module

    template <operator_graph_like Graph>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        return detail::plan_by_module(problem,
                                      [&](id m) { return problem.modules->depth(m) <= depth; });
    }
};

/// One part for each of some modules, with what lies below it and in none of the others; the rest
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

/// One part for so many levels: the level of a vertex is the length of the longest way to it.
struct parts_by_level {
    using policy_category = partition_category;

    id levels = 1; ///< of one part; 0 counts as 1

    template <operator_graph_like Graph>
    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        const auto& graph = problem.graph;
        std::vector<id> behind(num_vertices(graph), 0); // one more than the level
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

/// Parts as a rule has it: `rule(vertex)` returns the part, below `parts`.
template <class Rule>
struct parts_by_rule {
    using policy_category = partition_category;

    std::size_t parts; ///< how many there are
    Rule rule;         ///< a lambda, say

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

/// Any partition policy for `Graph`.
template <operator_graph_like Graph = operator_graph>
class any_partition {
public:
    using policy_category = partition_category;

    /// Holds a copy of `chosen`.
    template <class P>
        requires(!std::same_as<P, any_partition> && partition_policy<P, Graph>)
    any_partition(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : partition_([chosen = std::move(chosen)](const partition_problem<Graph>& problem)
                         -> partition_plan { return chosen.partition(problem); }) {}

    [[nodiscard]] partition_plan partition(const partition_problem<Graph>& problem) const {
        return partition_(problem);
    }

private:
    std::function<partition_plan(const partition_problem<Graph>&)> partition_;
};

/// Put `static_assert(explain_partition_policy<mine>());` beside a policy that is refused.
template <class P, class Graph = operator_graph>
consteval bool explain_partition_policy() {
    static_assert(std::copy_constructible<P>, "partition policy: make the class copyable");
    static_assert(detail::declares<P, partition_category>,
                  "partition policy: add `using policy_category = stemma::partition_category;`");
    static_assert(detail::has_partition<P, Graph>,
                  "partition policy: add `stemma::partition_plan partition(const "
                  "stemma::partition_problem<Graph>&) const`");
    return partition_policy<P, Graph>;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_PARTITION_HPP
