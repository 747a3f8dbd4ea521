// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_MODULE_BOUNDARIES_HPP
#define STEMMA_CUT_MODULE_BOUNDARIES_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/edge_values.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The values that cross the boundary of every module of a tree, in the order of their producers.
struct module_boundaries {
    detail::grouped_ids inputs;  ///< by module: produced outside and read inside
    detail::grouped_ids outputs; ///< by module: produced inside and read outside, or graph outputs
};

/// Finds the values that cross the boundaries of all modules at once, descendants included.
///
/// `module` is by vertex index. A value is an output of every module that contains its producer but
/// not all of its readers, and an input of every module that contains a reader but not its
/// producer. `leaves(value)` says whether a value is also an output of the graph. `apart` is as in
/// `vertex_set`. Complexity: O(V + E + length of the result).
template <operator_graph_like Graph, class Leaving>
[[nodiscard]] module_boundaries
find_module_boundaries(const Graph& graph, const tree_index& modules, std::span<const id> module,
                       const std::vector<bool>& apart, Leaving leaving) {
    std::vector<std::pair<id, id>> in; // module, value
    std::vector<std::pair<id, id>> out;
    std::vector<id> last_in(modules.size(), no_id);
    std::vector<std::pair<id, id>> uses; // value, reader's module
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto v = detail::index_of(graph, *it);
        if (apart[v]) {
            continue;
        }
        uses.clear();
        for (auto [edge, edge_last] = out_edges(*it, graph); edge != edge_last; ++edge) {
            const auto reader = detail::index_of(graph, target(*edge, graph));
            if (!apart[reader]) {
                uses.emplace_back(detail::value_on(graph, *edge), module[reader]);
            }
        }
        const auto& leaves = leaving(*it);
        for (auto value : leaves) {
            uses.emplace_back(value, no_id);
        }
        std::sort(uses.begin(), uses.end());
        for (std::size_t i = 0, end = 0; i < uses.size(); i = end) {
            const auto value = uses[i].first;
            auto highest = module[v]; // the common ancestor of the vertex and all readers
            bool leaves_all = false;
            for (; end < uses.size() && uses[end].first == value; ++end) {
                const auto reader = uses[end].second;
                if (reader == no_id) {
                    leaves_all = true;
                    continue;
                }
                highest = modules.lca(highest, reader);
                const auto meet = modules.lca(module[v], reader);
                for (auto m = reader; m != meet && last_in[m] != value; m = modules.parent(m)) {
                    last_in[m] = value;
                    in.emplace_back(m, value);
                }
            }
            for (auto m = module[v]; m != no_id && (leaves_all || m != highest);
                 m = modules.parent(m)) {
                out.emplace_back(m, value);
            }
        }
    }
    const auto by_module = [&](const std::vector<std::pair<id, id>>& pairs) {
        return detail::grouped_ids(modules.size(), [&](auto take) {
            for (const auto& [m, value] : pairs) {
                take(m, value);
            }
        });
    };
    return {by_module(in), by_module(out)};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_MODULE_BOUNDARIES_HPP
