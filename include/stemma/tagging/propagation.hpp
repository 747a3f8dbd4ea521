// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_PROPAGATION_HPP
#define STEMMA_TAGGING_PROPAGATION_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <concepts>
#include <span>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

template <class P, class Ops>
concept has_propagate = requires(const P& p, const propagation_problem<Ops>& problem,
                                 std::span<attribution> result) {
    p.propagate(problem, result);
};

/// Writes `decide(down, up)` for every operator without evidence.
template <class Ops, class Decide>
void decide_each(const propagation_problem<Ops>& problem, std::span<const id> down,
                 std::span<const id> up, std::span<attribution> result, Decide decide) {
    for (id v = 0; v < result.size(); ++v) {
        if (problem.evidence[v] == no_id) {
            // Assign members separately: copying a whole temporary stalls on store forwarding.
            const attribution decision =
                decide(v, down.empty() ? no_id : down[v], up.empty() ? no_id : up[v]);
            auto& kept = result[v];
            kept.module = decision.module;
            kept.call = decision.call;
            kept.confidence = decision.confidence;
            kept.source = decision.source;
            kept.conflict = decision.conflict;
        }
    }
}

/// Whether a policy propagates at all.
template <class P>
[[nodiscard]] constexpr bool propagates(const P& policy) {
    if constexpr (requires {
                      { policy.propagates() } -> std::convertible_to<bool>;
                  }) {
        return policy.propagates();
    } else {
        return true;
    }
}

} // namespace detail

/// Finds modules for operators without evidence.
///
/// `propagate(problem, result)` writes `result[v]` for every vertex index v with
/// `problem.evidence[v] == no_id` and leaves the others alone.
///
/// Requires: the result is a function of the graph and the evidence, not of the traversal order;
/// every operator gets a module; its provenance is a rule, not evidence.
/// A policy may also have `propagates()`: if false, owners do not use the evidence in their bodies
/// either, and operators without evidence get no tags from their readers.
/// Complexity: O(V + E).
template <class P, class Ops>
concept propagation_policy =
    detail::policy_for<P, propagation_category> && detail::has_propagate<P, Ops>;

/// Readers and producers together: the readers of a result usually show where it was computed,
/// unless the two sides disagree, as after a residual connection. docs/propagation.md states the
/// rules.
struct both_sides {
    using policy_category = propagation_category;
    static constexpr std::string_view name = "default";

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        std::vector<id> down;
        std::vector<id> up;
        std::vector<bool> independent;
        std::vector<bool> steers;
        std::vector<bool> settled;
        detail::run_tasks(thread_limit::current().parts_of_operators(result.size()),
                          {[&] {
                               down = common_reader_modules(problem);
                               settled = detail::settled_by_readers(problem, down, result);
                           },
                           [&] {
                               up = common_producer_modules(problem);
                               independent = data_independent(problem);
                               steers = detail::steering_only(problem);
                           }});
        const auto& tree = problem.modules;
        // What the view can never know is not looked up.
        constexpr bool knows_data = data_aware_operators<Ops>;
        constexpr bool knows_conditions = steered_operators<Ops>;
        const auto decide = [&](id v, id below, id above) -> attribution {
            if (below == no_id && above == no_id) {
                return {0, no_id, 0, provenance::root, false};
            }
            if (below == no_id) {
                return {above, no_id, detail::confidence::producers, provenance::producer, false};
            }
            if (above == no_id || (knows_data && independent[v])) {
                return {below, no_id,
                        knows_data && settled[v] ? detail::confidence::constant_of_sure
                                                 : detail::confidence::readers,
                        provenance::consumer, false};
            }
            if (tree.are_related(below, above) || (knows_conditions && steers[v])) {
                return {below, no_id,
                        below == above ? detail::confidence::both_sides
                                       : detail::confidence::related_sides,
                        provenance::consumer, false};
            }
            return {tree.lca(below, above), no_id, detail::confidence::common_ancestor,
                    provenance::between, false};
        };
        detail::decide_each(problem, down, up, result, decide);
        detail::stay_with_owners(problem, result, [&](id v) { return down[v] == no_id; });
    }
};

/// The common ancestor of all readers; the root if there are none.
struct consumers_only {
    using policy_category = propagation_category;
    static constexpr std::string_view name = "consumers";

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        const auto down = common_reader_modules(problem);
        detail::decide_each(problem, down, {}, result, [](id, id below, id) -> attribution {
            return below == no_id ? attribution{0, no_id, 0, provenance::root, false}
                                  : attribution{below, no_id, detail::confidence::readers_alone,
                                                provenance::consumer, false};
        });
    }
};

/// The common ancestor of all producers; the root if there are none.
struct producers_only {
    using policy_category = propagation_category;
    static constexpr std::string_view name = "producers";

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        const auto up = common_producer_modules(problem);
        detail::decide_each(problem, {}, up, result, [](id, id, id above) -> attribution {
            return above == no_id ? attribution{0, no_id, 0, provenance::root, false}
                                  : attribution{above, no_id, detail::confidence::producers_alone,
                                                provenance::producer, false};
        });
    }
};

/// The nearest evidence by number of edges, in either direction; the common ancestor if several are
/// equally near.
struct nearest_evidence {
    using policy_category = propagation_category;
    static constexpr std::string_view name = "nearest";

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        const auto near = nearest_modules(problem);
        detail::decide_each(problem, near, {}, result, [](id, id module, id) -> attribution {
            return module == no_id ? attribution{0, no_id, 0, provenance::root, false}
                                   : attribution{module, no_id, detail::confidence::nearest,
                                                 provenance::between, false};
        });
    }
};

/// As both_sides, except where branches join: if one input of a joining operator also feeds the
/// computation of the others (a skip connection), the operator belongs to the module containing
/// that computation.
struct residual_aware {
    using policy_category = propagation_category;
    static constexpr std::string_view name = "residual";

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        both_sides{}.propagate(problem, result);
        const auto joined = residual_modules(problem);
        for (id v = 0; v < result.size(); ++v) {
            if (problem.evidence[v] == no_id && joined[v] != no_id) {
                result[v] = {joined[v], no_id, detail::confidence::skip_connection,
                             provenance::between, false};
            }
        }
    }
};

/// Leaves operators without evidence to the root.
struct no_propagation {
    using policy_category = propagation_category;
    static constexpr std::string_view name = "off";

    [[nodiscard]] static constexpr bool propagates() noexcept { return false; }

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        detail::decide_each(problem, {}, {}, result, [](id, id, id) -> attribution {
            return {0, no_id, 0, provenance::root, false};
        });
    }
};

/// Put `static_assert(explain_policy<propagation_category, mine, ops>());` next to a policy that is
/// rejected.
template <std::same_as<propagation_category> Role, class P, class Ops>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "propagation policy: make the class copyable");
    static_assert(detail::declares<P, propagation_category>,
                  "propagation policy: add `using policy_category = "
                  "stemma::propagation_category;`");
    static_assert(
        detail::has_propagate<P, Ops>,
        "propagation policy: add `void propagate(const stemma::propagation_problem<Ops>&, "
        "std::span<stemma::attribution>) const`");
    return propagation_policy<P, Ops>;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_PROPAGATION_HPP
