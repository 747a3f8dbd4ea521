// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_FOLLOW_READERS_HPP
#define STEMMA_ALIGN_DETAIL_FOLLOW_READERS_HPP

#include <stemma/align/alignment.hpp>
#include <stemma/align/detail/aligned_nodes.hpp>
#include <stemma/align/detail/stated_scores.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Assigns each unaligned constant to the common module of its readers, unless one of them is known
/// to be in another module than that of its operation.
template <operator_view Ops>
void follow_readers(const Ops& ops, const aligned_nodes& nodes, const stated_scores& stated,
                    alignment& result) {
    const auto& graph = ops.graph();
    std::vector<operator_t<Ops>> order;
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        order.push_back(*it);
    }
    std::vector<bool> aligned(order.size(), false);
    for (id n = 0; n < nodes.size(); ++n) {
        const auto v = nodes.vertex[n];
        aligned[v] = !nodes.fixed[n] || result.of[v].module != no_id;
    }
    for (const auto& inserted : nodes.passed) {
        aligned[inserted.vertex] = inserted.behind != no_id;
    }
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
        const auto i = index_of(graph, *v);
        if (aligned[i]) {
            continue;
        }
        alignment::aligned created;
        bool agreed = true;
        for (auto [it, last] = out_edges(*v, graph); it != last && agreed; ++it) {
            const auto w = index_of(graph, target(*it, graph));
            const auto& reader = result.of[w];
            agreed = reader.module != no_id && !stated.excludes(w, reader.module) &&
                     (created.module == no_id || (created.module == reader.module));
            const auto least = created.module == no_id
                                   ? reader.confidence
                                   : std::min(created.confidence, reader.confidence);
            const bool same_call = created.module == no_id || created.call == reader.call;
            const bool exact = created.exact && reader.exact;
            created = reader;
            created.operation = no_id;
            created.confidence = least;
            created.exact = exact;
            created.call = same_call ? reader.call : no_id;
        }
        if (agreed && created.module != no_id) {
            created.confidence *= confidence::aligned_reader;
            result.of[i] = created;
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_FOLLOW_READERS_HPP
