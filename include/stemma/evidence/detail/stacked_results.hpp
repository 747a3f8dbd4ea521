// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_STACKED_RESULTS_HPP
#define STEMMA_EVIDENCE_DETAIL_STACKED_RESULTS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Calls `f(part, whole)` for every Unsqueeze that prepares a result for the Concat `whole`, whose
/// other inputs are prepared in the same way: `torch.stack` as the exporter writes it.
/// Complexity: O(V + E).
template <operator_view Ops, class Function>
void for_each_stacked_result(const Ops& ops, Function f) {
    const auto& graph = ops.graph();
    const vertices_by_index<graph_of<Ops>> vertex(graph);
    const auto is = [&](id v, std::string_view type) {
        return std::string_view(ops.op_type(vertex[v])) == type;
    };
    const auto only_serves = [&](id v, id whole) {
        bool only = true;
        for (auto [out, last] = out_edges(vertex[v], graph); out != last; ++out) {
            only = only && index_of(graph, target(*out, graph)) == whole;
        }
        return only;
    };
    for (id whole = 0; whole < num_vertices(graph); ++whole) {
        if (!is(whole, "Concat")) {
            continue;
        }
        std::vector<id> parts;
        bool alike = true;
        for (auto [in, last] = in_edges(vertex[whole], graph); in != last && alike; ++in) {
            const auto part = static_cast<id>(index_of(graph, source(*in, graph)));
            alike = is(part, "Unsqueeze") && only_serves(part, whole);
            parts.push_back(part);
        }
        for (std::size_t i = 0; i < parts.size() && alike && parts.size() > 1; ++i) {
            f(parts[i], whole);
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_STACKED_RESULTS_HPP
