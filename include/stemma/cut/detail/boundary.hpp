// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_BOUNDARY_HPP
#define STEMMA_CUT_DETAIL_BOUNDARY_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/sparse_ids.hpp>
#include <stemma/cut/detail/vertex_set.hpp>
#include <stemma/model/edge_values.hpp>

#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The boundary of a set: one edge per value.
template <operator_graph_like Graph>
struct boundary_result {
    std::vector<edge_t<Graph>> inputs;  ///< into the set, in the order of readers
    std::vector<edge_t<Graph>> outputs; ///< out of it, in the order of producers
};

/// Finds the values that cross the boundary of a set.
///
/// Readers and producers are taken in the order of `members`, which are the vertices of the set.
/// Complexity: O(edges at the members), plus a lookup per crossing edge.
template <operator_graph_like Graph>
[[nodiscard]] boundary_result<Graph> find_boundary(const Graph& graph, const vertex_set& set,
                                                   std::span<const vertex_t<Graph>> members) {
    // `edges` are those of a member, `beyond` is the far end of one.
    const auto cross = [&](auto edges, auto beyond) {
        std::vector<edge_t<Graph>> kept;
        sparse_ids met; // values
        for (const auto& v : members) {
            if (set.apart[index_of(graph, v)]) {
                continue;
            }
            for (auto [it, last] = edges(v); it != last; ++it) {
                const auto value = value_on(graph, *it);
                if (set.is_outside(index_of(graph, beyond(*it))) && met.insert(value)) {
                    kept.push_back(*it);
                }
            }
        }
        return kept;
    };
    return {cross([&](const auto& v) { return in_edges(v, graph); },
                  [&](const auto& e) { return source(e, graph); }),
            cross([&](const auto& v) { return out_edges(v, graph); },
                  [&](const auto& e) { return target(e, graph); })};
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_BOUNDARY_HPP
