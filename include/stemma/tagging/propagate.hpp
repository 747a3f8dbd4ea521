// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_PROPAGATE_HPP
#define STEMMA_TAGGING_PROPAGATE_HPP

#include <stemma/config.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/neighbours.hpp>
#include <stemma/core/detail/policy_name.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/detail/nesting.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>
#include <stemma/tagging/propagation.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: by vertex index, whether an operator or something it is computed from has evidence.
template <operator_view Ops>
[[nodiscard]] std::vector<bool> known_from_above(const Ops& ops,
                                                 const sweep_order<graph_of<Ops>>& order,
                                                 std::span<const id> evidence) {
    const auto& graph = ops.graph();
    std::vector<bool> known(evidence.size(), false);
    order.forward([&](operator_t<Ops> vertex) {
        const auto v = index_of(graph, vertex);
        known[v] = evidence[v] != no_id || range::any_of(producers_of(graph, vertex),
                                                         [&](id u) -> bool { return known[u]; });
    });
    return known;
}

/// Limits the confidence of every operator without evidence to that of the operators it follows.
///
/// By its provenance it follows its readers (`consumer`), the producers of its inputs (`producer`),
/// both (`between`), or the operator whose body it is in (`owner`), unless their modules were
/// derived from itself. `result` is by vertex index; `evidence[v] == no_id` marks operators
/// without.
/// Complexity: O(V), and O(E + V log V) if an operator has less confidence than one that may follow
/// it.
template <operator_view Ops>
void limit_confidence(const Ops& ops, const sweep_order<graph_of<Ops>>& order,
                      std::span<const id> evidence, std::span<attribution> result) {
    using entry = std::pair<float, id>; // least confident first
    float most = 0;
    for (id v = 0; v < result.size(); ++v) {
        most = evidence[v] == no_id ? std::max(most, result[v].confidence) : most;
    }
    std::vector<entry> matches;
    for (id v = 0; v < result.size(); ++v) {
        if (result[v].source != provenance::root && result[v].confidence < most) {
            matches.emplace_back(result[v].confidence, v);
        }
    }
    if (matches.empty()) {
        return;
    }
    const auto& graph = ops.graph();
    const vertices_by_index<graph_of<Ops>> vertex_of(graph);
    const auto above = detail::known_from_above(ops, order, evidence);
    std::vector<std::pair<id, id>> bodies; // owner, operator that follows it
    for (const auto& op : detail::operators_in_bodies(ops)) {
        if (evidence[op.v] == no_id && result[op.v].source == provenance::owner) {
            bodies.emplace_back(op.owner, op.v);
        }
    }
    std::sort(bodies.begin(), bodies.end());
    std::priority_queue<entry, std::vector<entry>, std::greater<>> next(std::greater<>(),
                                                                        std::move(matches));
    const auto limit = [&](id v, float confidence) {
        if (evidence[v] == no_id && result[v].confidence > confidence) {
            result[v].confidence = confidence;
            next.emplace(confidence, v);
        }
    };
    while (!next.empty()) {
        const auto [confidence, v] = next.top();
        next.pop();
        if (result[v].confidence < confidence) {
            continue; // already limited, to a lower one
        }
        const auto from = result[v].source;
        if (evidence[v] != no_id || from != provenance::producer) {
            for (const auto producer : producers_of(graph, vertex_of[v])) {
                if (const auto how = result[producer].source;
                    how == provenance::consumer || how == provenance::between) {
                    limit(producer, confidence);
                }
            }
        }
        if (above[v]) {
            for (const auto reader : readers_of(graph, vertex_of[v])) {
                if (const auto how = result[reader].source;
                    how == provenance::producer || how == provenance::between) {
                    limit(reader, confidence);
                }
            }
        }
        for (auto op = std::lower_bound(bodies.begin(), bodies.end(), std::pair(v, id{0}));
             op != bodies.end() && op->first == v; ++op) {
            limit(op->second, confidence);
        }
    }
}

/// Assigns owners of bodies without evidence to the common ancestor of the evidence in their
/// bodies, innermost bodies first. If that is a layer whose weights are the only evidence there,
/// beside operators about which nothing is known, its parent runs the body: a layer has no control
/// flow.
template <operator_view Ops>
void hear_bodies(const Ops& ops, const tree_index& modules, std::span<attribution> result) {
    const auto inner = operators_in_bodies(ops);
    if (inner.empty()) {
        return;
    }
    const auto& graph = ops.graph();
    std::vector<bool> fed(result.size()); // by another operator
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto [in, none] = in_edges(*it, graph);
        fed[index_of(graph, *it)] = in != none;
    }
    struct said {
        common_module module;
        float least = confidence::bodies; // the least confidence in the bodies
        bool only_weights = true;         // whether the evidence in the bodies is all of weights
        bool others = false;              // whether operators without evidence compute there, too
    };
    std::unordered_map<id, said> heard; // by owner
    const auto settle = [&](id v) {
        const auto entry = heard.find(v);
        if (result[v].module != no_id || entry == heard.end() ||
            entry->second.module.low == no_id) {
            return;
        }
        const auto& inside = entry->second;
        auto m = inside.module.get(modules);
        if (inside.only_weights && inside.others && modules.is_leaf(m) && m != 0) {
            m = modules.parent(m);
        }
        result[v] = {m, no_id, inside.least, provenance::owner, false};
    };
    for (auto op = inner.rbegin(); op != inner.rend(); ++op) {
        settle(op->v);
        auto& here = heard[op->owner];
        if (result[op->v].module != no_id) {
            here.module.add(result[op->v].module);
            here.least = std::min(here.least, result[op->v].confidence);
            here.only_weights &= result[op->v].source == provenance::parameter;
        } else {
            here.others |= fed[op->v];
        }
    }
    for (const auto& op : inner) {
        settle(op.owner);
    }
}

} // namespace detail

/// Finds a module for every operator that has none: `result[v].module == no_id` on entry.
///
/// `result` is by vertex index. An owner of bodies without evidence is settled first, from the
/// evidence in its bodies; the rest is up to the policy, which is not called if nothing remains. No
/// operator has more confidence than those it follows. `independent` is the result of
/// `data_independent` for `ops`, if known. Requires: `ops` may be read concurrently if
/// a `thread_scope` allows it.
/// Complexity: that of the policy, plus O(V + E), and that of `limit_confidence`.
template <operator_view Ops, propagation_policy<Ops> Policy = both_sides>
void propagate(const Ops& ops, const tree_index& modules, std::span<attribution> result,
               const Policy& policy = {}, const std::vector<bool>* independent = nullptr) {
    STEMMA_ASSERT(result.size() == num_vertices(ops.graph()), "one attribution per operator");
    const sweep_order order(ops.graph());
    if (detail::propagates(policy)) {
        detail::hear_bodies(ops, modules, result);
    }
    std::vector<id> evidence(result.size());
    for (std::size_t v = 0; v < result.size(); ++v) {
        evidence[v] = result[v].module;
    }
    if (std::find(evidence.begin(), evidence.end(), no_id) == evidence.end()) {
        return;
    }
    policy.propagate(propagation_problem<Ops>{ops, modules, order, evidence, independent}, result);
    for (std::size_t v = 0; v < result.size(); ++v) {
        if (result[v].module >= modules.size()) {
            detail::refuse_answer(policy, "propagation",
                                  result[v].module == no_id
                                      ? "gives an operator without evidence no module"
                                      : "names a module that is not in the tree");
        }
        if (!detail::is_confidence(result[v].confidence)) {
            detail::refuse_answer(policy, "propagation", detail::no_confidence);
        }
        if (evidence[v] == no_id && is_evidence(result[v].source)) {
            detail::refuse_answer(policy, "propagation",
                                  "names a source of evidence for an operator without any");
        }
        if (evidence[v] != no_id && result[v].module != evidence[v]) {
            detail::refuse_answer(policy, "propagation",
                                  "changes the module of an operator with evidence");
        }
    }
    detail::limit_confidence(ops, order, evidence, result);
}

/// Rejects types that are no operator views, with an explanation.
template <class Ops, class... Others>
    requires(!operator_view<Ops>)
void propagate(const Ops&, const tree_index&, const Others&...) {
    static_assert(explain_operator_view<Ops>());
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_PROPAGATE_HPP
