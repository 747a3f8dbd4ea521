// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_TRANSPOSED_MODULE_HPP
#define STEMMA_EVIDENCE_DETAIL_TRANSPOSED_MODULE_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the module that a Transpose lays out a value for, if only operators of that module read
/// it, and only other Transposes their results; else `no_id`. `owner` is the module of an operator
/// by vertex index, `no_id` if unknown.
/// Complexity: a bounded number of operators.
template <operator_view Ops>
[[nodiscard]] id transposed_module(const Ops& ops, const vertices_by_index<graph_of<Ops>>& vertex,
                                   const std::vector<id>& owner, std::size_t v) {
    constexpr std::size_t max_region = 32;
    const auto& graph = ops.graph();
    const auto is_transpose = [&](std::size_t u) {
        return std::string_view(ops.op_type(vertex[u])) == "Transpose";
    };
    auto [out, last] = out_edges(vertex[v], graph);
    const auto module =
        out == last || !is_transpose(v) ? no_id : owner[index_of(graph, target(*out, graph))];
    std::vector<std::size_t> region{v};
    bool again = false;
    for (std::size_t i = 0; i < region.size() && module != no_id; ++i) {
        for (auto [it, end] = out_edges(vertex[region[i]], graph); it != end; ++it) {
            const auto w = index_of(graph, target(*it, graph));
            const bool leaves = owner[w] != module;
            if ((leaves && (i == 0 || !is_transpose(w))) || region.size() == max_region) {
                return no_id;
            }
            again = again || leaves;
            if (!leaves && std::find(region.begin(), region.end(), w) == region.end()) {
                region.push_back(w);
            }
        }
    }
    return again ? module : no_id;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_TRANSPOSED_MODULE_HPP
