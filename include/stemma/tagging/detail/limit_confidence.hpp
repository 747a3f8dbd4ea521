// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_DETAIL_LIMIT_CONFIDENCE_HPP
#define STEMMA_TAGGING_DETAIL_LIMIT_CONFIDENCE_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/neighbours.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/nesting.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TAGGING_DETAIL_LIMIT_CONFIDENCE_HPP
