// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_SWEEPS_HPP
#define STEMMA_MODEL_SWEEPS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/neighbours.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/detail/nesting.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The input of a propagation policy. Arrays are by vertex index.
template <operator_view Ops>
struct propagation_problem {
    const Ops& ops;                          ///< with everything a policy may read by its concepts
    const tree_index& modules;               ///< of the modules that are named
    const sweep_order<graph_of<Ops>>& order; ///< of the operators, in either direction
    /// The deepest module if known, else `no_id`. An owner of bodies without evidence of its own
    /// has the common ancestor of the evidence in its bodies here.
    std::span<const id> evidence;
    /// `data_independent(ops)` if already computed, else null.
    const std::vector<bool>* independent = nullptr;
};

namespace detail {

/// The common ancestor of a growing set of modules, from their least and greatest rank.
struct common_module {
    id low = no_id;
    id behind = 0; // one past the greatest

    /// `no_id + 1` wraps to 0, so adding `no_id` is a no-op.
    void add(id module) noexcept {
        low = std::min(low, module);
        behind = std::max(behind, module + 1);
    }

    void add(const common_module& other) noexcept {
        low = std::min(low, other.low);
        behind = std::max(behind, other.behind);
    }

    [[nodiscard]] id get(const tree_index& modules) const noexcept {
        return low == no_id ? no_id : modules.lca(low, behind - 1);
    }
};

/// Returns: each operator's evidence or, without any, the deepest module containing all its
/// `neighbours(v)`, which `sweep(f)` visits first.
template <operator_view Ops, class Sweep, class Neighbours>
[[nodiscard]] std::vector<id> common_modules(const propagation_problem<Ops>& problem, Sweep sweep,
                                             Neighbours neighbours) {
    const auto& graph = problem.ops.graph();
    std::vector<id> modules(problem.evidence.begin(), problem.evidence.end());
    if (std::all_of(modules.begin(), modules.end(), [](id module) { return module == no_id; })) {
        return modules;
    }
    sweep([&](operator_t<Ops> vertex) {
        const auto v = index_of(graph, vertex);
        if (modules[v] == no_id) {
            common_module common;
            for (const auto next : neighbours(vertex)) {
                common.add(modules[next]);
            }
            modules[v] = common.get(problem.modules);
        }
    });
    return modules;
}

} // namespace detail

/// Returns: each operator's evidence or, without any, the deepest module containing all its
/// readers, where readers without evidence count with their own readers. `no_id` if nothing
/// downstream is known or, in a graph with cycles, it leads into one.
/// Complexity: O(V + edges of operators without evidence); one ancestor query for each of these.
template <operator_view Ops>
[[nodiscard]] std::vector<id> common_reader_modules(const propagation_problem<Ops>& problem) {
    const auto& graph = problem.ops.graph();
    return detail::common_modules(
        problem, [&](auto f) { problem.order.backward(f); },
        [&](operator_t<Ops> vertex) { return detail::readers_of(graph, vertex); });
}

/// Returns: the same for producers.
/// Complexity: O(V + edges of operators without evidence); one ancestor query for each of these.
template <operator_view Ops>
[[nodiscard]] std::vector<id> common_producer_modules(const propagation_problem<Ops>& problem) {
    const auto& graph = problem.ops.graph();
    return detail::common_modules(
        problem, [&](auto f) { problem.order.forward(f); },
        [&](operator_t<Ops> vertex) { return detail::producers_of(graph, vertex); });
}

/// Returns: for each operator whether its result is the same for all inputs of the same shapes, as
/// far as the view knows; false if it knows nothing. False for anything on or after a cycle.
/// Complexity: O(V + E).
template <operator_view Ops>
[[nodiscard]] std::vector<bool> data_independent(const Ops& ops,
                                                 const sweep_order<graph_of<Ops>>& order) {
    std::vector<bool> independent(num_vertices(ops.graph()), false);
    if constexpr (data_aware_operators<Ops>) {
        const auto& graph = ops.graph();
        order.forward([&](operator_t<Ops> vertex) {
            independent[detail::index_of(graph, vertex)] =
                ops.hides_data(vertex) ||
                (!ops.reads_data(vertex) &&
                 detail::range::all_of(detail::producers_of(graph, vertex),
                                       [&](id u) -> bool { return independent[u]; }));
        });
    }
    return independent;
}

/// The same; taken from the problem if present. Complexity: O(V + E).
template <operator_view Ops>
[[nodiscard]] std::vector<bool> data_independent(const propagation_problem<Ops>& problem) {
    return problem.independent != nullptr ? *problem.independent
                                          : data_independent(problem.ops, problem.order);
}

namespace detail {

/// Returns: for each operator without evidence that computes a constant whether all its readers
/// surely belong to one module, namely the one in `down`: by evidence with a confidence of at least
/// 0.9, or by this rule themselves. False if the view knows nothing about data. Complexity: O(V +
/// E).
template <operator_view Ops>
[[nodiscard]] std::vector<bool> settled_by_readers(const propagation_problem<Ops>& problem,
                                                   std::span<const id> down,
                                                   std::span<const attribution> evidence) {
    std::vector<bool> settled(problem.evidence.size(), false);
    if constexpr (data_aware_operators<Ops>) {
        const auto& graph = problem.ops.graph();
        const auto* independent = problem.independent; // like every constant
        const auto is_constant = [&](operator_t<Ops> vertex) {
            return range::all_of(producers_of(graph, vertex),
                                 [&](id u) -> bool { return settled[u]; });
        };
        problem.order.forward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph, vertex);
            if ((independent == nullptr || (*independent)[v]) && !problem.ops.hides_data(vertex) &&
                !problem.ops.reads_data(vertex) && is_constant(vertex)) {
                settled[v] = true;
            }
        });
        problem.order.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph, vertex);
            if (!settled[v]) {
                return;
            }
            settled[v] = problem.evidence[v] == no_id && down[v] != no_id &&
                         range::all_of(readers_of(graph, vertex), [&](id reader) {
                             return problem.evidence[reader] != no_id
                                        ? evidence[reader].module == down[v] &&
                                              evidence[reader].confidence >= confidence::sure
                                        : settled[reader] && down[reader] == down[v];
                         });
        });
    }
    return settled;
}

} // namespace detail

/// Returns: for each operator the nearest evidence, by number of edges in either direction; the
/// common ancestor of several that are equally near.
/// Complexity: O(V + E).
template <operator_view Ops>
[[nodiscard]] std::vector<id> nearest_modules(const propagation_problem<Ops>& problem) {
    const auto& graph = problem.ops.graph();
    std::vector<id> near(problem.evidence.begin(), problem.evidence.end());
    std::vector<operator_t<Ops>> front;
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        if (near[detail::index_of(graph, *it)] != no_id) {
            front.push_back(*it);
        }
    }
    if (front.empty()) {
        return near;
    }
    std::vector<detail::common_module> common(near.size());
    std::vector<operator_t<Ops>> next;
    const auto reach = [&](operator_t<Ops> vertex, id module) {
        const auto v = detail::index_of(graph, vertex);
        if (near[v] == no_id) {
            if (common[v].low == no_id) {
                next.push_back(vertex);
            }
            common[v].add(module);
        }
    };
    const auto tell_neighbours = [&](const operator_t<Ops>& vertex) {
        const auto module = near[detail::index_of(graph, vertex)];
        for (auto [it, last] = in_edges(vertex, graph); it != last; ++it) {
            reach(source(*it, graph), module);
        }
        for (auto [it, last] = out_edges(vertex, graph); it != last; ++it) {
            reach(target(*it, graph), module);
        }
    };
    while (!front.empty()) {
        next.clear();
        std::for_each(front.begin(), front.end(), tell_neighbours);
        for (const auto& vertex : next) {
            const auto v = detail::index_of(graph, vertex);
            near[v] = common[v].get(problem.modules);
        }
        front.swap(next);
    }
    return near;
}

/// Returns: for each operator that joins a skip connection the deepest module containing what is
/// skipped, else `no_id`.
///
/// A skip connection: a producer of one of the operator's inputs also feeds the computation of
/// another input, of which up to `reach` operators are examined. The module is the common ancestor
/// of the evidence on the way between them, and on what is independent of data, such as weights
/// that are computed; not of what comes in from the side, such as a mask.
/// Complexity: O(V + E + joins * reach^2).
template <operator_view Ops>
[[nodiscard]] std::vector<id> residual_modules(const propagation_problem<Ops>& problem,
                                               std::size_t reach = 64) {
    const auto& graph = problem.ops.graph();
    std::vector<id> joined(problem.evidence.size(), no_id);
    std::vector<operator_t<Ops>> seen;
    std::vector<std::pair<std::size_t, std::size_t>> passed;   // edges
    std::vector<std::size_t> mark(problem.evidence.size(), 0); // odd: examined; even: on the way
    std::size_t stamp = 1;
    // Walks from `from` against the edges until `goal`, then from there along the edges it passed,
    // collecting evidence on the way.
    const auto skipped = [&](operator_t<Ops> from, operator_t<Ops> goal) -> id {
        stamp += 2;
        seen.assign(1, from);
        passed.clear();
        mark[detail::index_of(graph, from)] = stamp;
        detail::common_module modules;
        for (std::size_t i = 0; i < seen.size() && i < reach; ++i) {
            const auto v = detail::index_of(graph, seen[i]);
            if (problem.independent != nullptr && (*problem.independent)[v]) {
                modules.add(problem.evidence[v]);
            }
            for (auto [it, last] = in_edges(seen[i], graph); it != last; ++it) {
                const auto producer = source(*it, graph);
                const auto u = detail::index_of(graph, producer);
                passed.emplace_back(u, v);
                if (producer != goal && mark[u] != stamp) {
                    mark[u] = stamp;
                    seen.push_back(producer);
                }
            }
        }
        mark[detail::index_of(graph, goal)] = stamp + 1;
        for (bool again = true; again;) {
            again = false;
            for (auto edge = passed.rbegin(); edge != passed.rend(); ++edge) {
                const auto [u, v] = *edge;
                if (mark[u] == stamp + 1 && mark[v] == stamp) {
                    mark[v] = stamp + 1;
                    modules.add(problem.evidence[v]);
                    again = true;
                }
            }
        }
        const bool reached = mark[detail::index_of(graph, from)] == stamp + 1;
        return reached ? modules.get(problem.modules) : no_id;
    };
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto v = detail::index_of(graph, *it);
        if (problem.evidence[v] != no_id) {
            continue;
        }
        std::array<operator_t<Ops>, 2> producers{};
        std::size_t count = 0;
        for (auto [in, end] = in_edges(*it, graph); in != end && count <= 2; ++in, ++count) {
            producers[std::min<std::size_t>(count, 1)] = source(*in, graph);
        }
        if (count != 2 || producers[0] == producers[1]) {
            continue;
        }
        for (std::size_t a = 0; a < 2; ++a) {
            const auto module = skipped(producers[a], producers[1 - a]);
            joined[v] = module == no_id ? joined[v] : module;
        }
    }
    return joined;
}

namespace detail {

/// Returns: for each operator without evidence whether its result is only used, through operators
/// without evidence, as the condition of an If or Loop. False if the view knows no conditions.
/// Complexity: O(V + edges of operators without evidence).
template <operator_view Ops>
[[nodiscard]] std::vector<bool> steering_only(const propagation_problem<Ops>& problem) {
    std::vector<bool> steers(problem.evidence.size(), false);
    if constexpr (steered_operators<Ops>) {
        const auto& graph = problem.ops.graph();
        const auto all_steer = [&](operator_t<Ops> vertex) {
            bool read = false;
            for (auto [it, last] = out_edges(vertex, graph); it != last; ++it) {
                read = true;
                if (!problem.ops.reads_condition(*it) &&
                    !steers[index_of(graph, target(*it, graph))]) {
                    return false;
                }
            }
            return read;
        };
        problem.order.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph, vertex);
            if (problem.evidence[v] == no_id && all_steer(vertex)) {
                steers[v] = true;
            }
        });
    }
    return steers;
}

/// Keeps operators in bodies with the operator that owns the body, which is settled before them:
/// lost ones (`lost(v)`) take the owner's module, and those outside that module return to it, since
/// the owner's module runs the body. Applies only to operators without evidence. Complexity: O(V +
/// operators in bodies).
template <operator_view Ops, class Lost>
void stay_with_owners(const propagation_problem<Ops>& problem, std::span<attribution> result,
                      Lost lost) {
    for (const auto& op : operators_in_bodies(problem.ops)) {
        const auto& owner = result[op.owner];
        if (problem.evidence[op.v] == no_id &&
            (lost(op.v) || !problem.modules.is_ancestor(owner.module, result[op.v].module))) {
            result[op.v] = {owner.module, no_id, std::min(owner.confidence, confidence::owner),
                            provenance::owner, false};
        }
    }
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_SWEEPS_HPP
