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

/// A graph as plain arrays, for hand-written loops.
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
    std::vector<id> in{0};    ///< by vertex, plus end: the first of its producers
    std::vector<id> out{0};   ///< by vertex, plus end: the first of its readers
    std::vector<id> producer; ///< by edge, grouped by reader
    std::vector<id> value;    ///< by edge
    std::vector<id> reader;   ///< grouped by producer
    std::vector<id> edge;     ///< parallel to `reader`
};

/// Returns: the common ancestor of the modules of some operators; `no_id` if all are unknown.
inline id common_module(const std::vector<id>& modules, const id* first, const id* last,
                        const stemma::tree_index& tree) {
    id low = no_id;
    id behind = 0;
    for (; first != last; ++first) {
        low = std::min(low, modules[*first]);
        behind = std::max(behind, modules[*first] + 1);
    }
    return low == no_id ? no_id : tree.lca(low, behind - 1);
}

} // namespace stemma_bench

#endif // STEMMA_BENCH_BARE_GRAPH_HPP
