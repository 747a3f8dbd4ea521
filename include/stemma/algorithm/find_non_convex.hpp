// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALGORITHM_FIND_NON_CONVEX_HPP
#define STEMMA_ALGORITHM_FIND_NON_CONVEX_HPP

#include <stemma/algorithm/boundary.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/topological_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_members.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma {

namespace detail {

/// Tells of most modules at once that they are convex: nothing else stands between their first and
/// their last operator.
class contiguous_modules {
public:
    /// `order` holds vertex indices. Complexity: O(vertices + modules).
    contiguous_modules(const tree_index& modules, std::span<const attribution> attributions,
                       const std::vector<bool>& apart, std::span<const id> order)
        : first_(modules.size(), no_id), end_(modules.size(), 0), members_(modules.size(), 0) {
        counted_.reserve(order.size() + 1);
        counted_.push_back(0);
        for (id at = 0; at < order.size(); ++at) {
            const auto m = attributions[order[at]].module;
            const bool counts = !apart[order[at]];
            counted_.push_back(counted_.back() + (counts ? 1U : 0U));
            if (counts) {
                first_[m] = std::min(first_[m], at);
                end_[m] = at + 1;
                ++members_[m];
            }
        }
        for (auto m = static_cast<id>(modules.size()); m-- > 1;) {
            const auto above = modules.parent(m);
            first_[above] = std::min(first_[above], first_[m]);
            end_[above] = std::max(end_[above], end_[m]);
            members_[above] += members_[m];
        }
    }

    [[nodiscard]] bool operator()(id m) const {
        return members_[m] < 2 || counted_[end_[m]] - counted_[first_[m]] == members_[m];
    }

private:
    std::vector<id> first_;   // by module: place of its first operator that is not apart
    std::vector<id> end_;     // behind its last one
    std::vector<id> members_; // how many they are, with all below
    std::vector<id> counted_; // by place: operators before it that are not apart
};

} // namespace detail

/// A module whose operators cannot run in one go: some way leads out of it and back.
struct non_convex_module {
    id module = no_id; ///< whose operators, with all below, they are
    std::vector<id>
        witness; ///< vertex indices: the one it leaves from, those outside, the one back
};

/// Returns: the modules that are not convex, each with all that lies below it, in order.
///
/// `attributions` is by vertex index. `apart` is as in `vertex_set`. Nothing is found in a graph
/// with cycles. Complexity: O(V + E + modules), and for every module that is not contiguous in a
/// topological order, the part of it between its first and its last operator.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<non_convex_module>
find_non_convex_modules(const Graph& graph, const tree_index& modules,
                        std::span<const attribution> attributions, std::vector<bool> apart) {
    std::vector<non_convex_module> result;
    std::vector<vertex_t<Graph>> order;
    // Files keep modules together where the order by levels does not.
    if (is_topologically_indexed(graph)) {
        const auto [it, last] = vertices(graph);
        order.assign(it, last);
    } else {
        order = topological_order(graph);
    }
    if (order.size() < num_vertices(graph)) {
        return result;
    }
    std::vector<id> rank(order.size());
    std::vector<vertex_t<Graph>> by_index(order.size());
    std::vector<id> indices;
    for (std::size_t i = 0; i < order.size(); ++i) {
        indices.push_back(static_cast<id>(index_of(graph, order[i])));
        rank[indices[i]] = static_cast<id>(i);
        by_index[indices[i]] = order[i];
    }
    const detail::contiguous_modules is_contiguous(modules, attributions, apart, indices);
    const module_members members(modules, attributions);
    vertex_set set(order.size());
    set.apart = std::move(apart);
    std::vector<vertex_t<Graph>> inside;
    for (id m = 1; m < modules.size(); ++m) {
        if (is_contiguous(m)) {
            continue;
        }
        // What holds the same operators as the module above is what that is.
        if (members.count(m) == members.count(modules.parent(m))) {
            if (!result.empty() && result.back().module == modules.parent(m)) {
                result.push_back({m, result.back().witness});
            }
            continue;
        }
        inside.clear();
        for (auto v : members.all(m)) {
            set.inside[v] = true;
            if (!set.apart[v]) {
                inside.push_back(by_index[v]);
            }
        }
        const order_stretch<Graph> stretch(graph, order, rank, inside);
        const auto path = find_reentry(graph, set, stretch);
        if (!path.empty()) {
            non_convex_module found{m, {}};
            for (const auto& v : path) {
                found.witness.push_back(static_cast<id>(index_of(graph, v)));
            }
            result.push_back(std::move(found));
        }
        for (auto v : members.all(m)) {
            set.inside[v] = false;
        }
    }
    return result;
}

} // namespace stemma

#endif // STEMMA_ALGORITHM_FIND_NON_CONVEX_HPP
