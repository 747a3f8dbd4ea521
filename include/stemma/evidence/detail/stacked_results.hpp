// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_STACKED_RESULTS_HPP
#define STEMMA_EVIDENCE_DETAIL_STACKED_RESULTS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/range.hpp>
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
    std::vector<id> served(num_vertices(graph), no_id); // the only reader of an Unsqueeze
    for (auto [it, end] = vertices(graph); it != end; ++it) {
        if (std::string_view(ops.op_type(*it)) != "Unsqueeze") {
            continue;
        }
        auto& only = served[index_of(graph, *it)];
        for (auto [out, last] = out_edges(*it, graph); out != last; ++out) {
            const auto reader = static_cast<id>(index_of(graph, target(*out, graph)));
            if (only != no_id && only != reader) {
                only = no_id;
                break;
            }
            only = reader;
        }
    }
    for (auto [it, end] = vertices(graph); it != end; ++it) {
        if (std::string_view(ops.op_type(*it)) != "Concat") {
            continue;
        }
        const auto whole = static_cast<id>(index_of(graph, *it));
        std::vector<id> parts;
        for (auto [in, last] = in_edges(*it, graph); in != last; ++in) {
            parts.push_back(static_cast<id>(index_of(graph, source(*in, graph))));
        }
        const bool stacks = parts.size() > 1 &&
                            range::all_of(parts, [&](id part) { return served[part] == whole; });
        for (std::size_t i = 0; i < parts.size() && stacks; ++i) {
            f(parts[i], whole);
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_STACKED_RESULTS_HPP
