// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_BENCH_BARE_GRAPH_HPP
#define STEMMA_BENCH_BARE_GRAPH_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <vector>

namespace stemma_bench {

using stemma::id;
using stemma::no_id;

/// What a loop written by hand works on: the arrays of a graph, and nothing else.
struct bare_graph {
    explicit bare_graph(const stemma::operator_graph& graph) : count(graph.vertex_count()) {
        for (id v = 0; v < count; ++v) {
            for (auto [it, last] = in_edges(v, graph); it != last; ++it) {
                producer.push_back(source(*it, graph));
                value.push_back(get(stemma::value_index, graph, *it));
            }
            for (auto [it, last] = out_edges(v, graph); it != last; ++it) {
                reader.push_back(target(*it, graph));
                edge.push_back((*it).index);
            }
            in.push_back(static_cast<id>(producer.size()));
            out.push_back(static_cast<id>(reader.size()));
        }
    }

    id count = 0;
    std::vector<id> in{0};    ///< by vertex, and one more: where its producers begin
    std::vector<id> out{0};   ///< by vertex, and one more: where its readers begin
    std::vector<id> producer; ///< by edge: those of one reader together
    std::vector<id> value;    ///< by edge
    std::vector<id> reader;   ///< those of one producer together
    std::vector<id> edge;     ///< beside each of `reader`
};

/// Returns: the deepest module that holds what is known of some operators; `no_id` if nothing is.
inline id common_module(const std::vector<id>& known, const id* first, const id* last,
                        const stemma::tree_index& tree) {
    id low = no_id;
    id behind = 0;
    for (; first != last; ++first) {
        low = std::min(low, known[*first]);
        behind = std::max(behind, known[*first] + 1);
    }
    return low == no_id ? no_id : tree.lca(low, behind - 1);
}

} // namespace stemma_bench

#endif // STEMMA_BENCH_BARE_GRAPH_HPP
