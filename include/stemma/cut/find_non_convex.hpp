// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_FIND_NON_CONVEX_HPP
#define STEMMA_CUT_FIND_NON_CONVEX_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/cut/detail/find_reentry.hpp>
#include <stemma/cut/detail/vertex_set.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/module_members.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Proves most modules convex at once: nothing else is between their first and last operator.
class contiguous_modules {
public:
    /// Requires: `order` contains all vertices. Complexity: O(vertices + modules).
    template <operator_graph_like Graph>
    contiguous_modules(const Graph& graph, const sweep_order<Graph>& order,
                       const tree_index& modules, std::span<const attribution> attributions,
                       const std::vector<bool>& apart)
        : first_(modules.size(), no_id)
        , end_(modules.size(), 0)
        , members_(modules.size(), 0)
        , counted_(num_vertices(graph) + 1, 0) {
        id at = 0;
        id counted = 0;
        order.forward([&](const vertex_t<Graph>& vertex) {
            const auto v = index_of(graph, vertex);
            if (!apart[v]) {
                const auto m = attributions[v].module;
                first_[m] = std::min(first_[m], at);
                end_[m] = at + 1;
                ++members_[m];
                ++counted;
            }
            counted_[++at] = counted;
        });
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

    /// Returns: the position of the first operator of a module that is not apart.
    [[nodiscard]] id first(id m) const { return first_[m]; }

    /// Returns: the position past the last one.
    [[nodiscard]] id end(id m) const { return end_[m]; }

private:
    std::vector<id> first_;
    std::vector<id> end_;
    std::vector<id> members_; // their number, including descendants
    std::vector<id> counted_; // by position: operators before it that are not apart
};

} // namespace detail

/// A module that cannot run as a whole: a path leaves it and returns.
struct non_convex_module {
    id module = no_id;       ///< including descendants
    std::vector<id> witness; ///< vertex indices on the path: the last inside, those outside, the
                             ///< first back inside
};

/// Returns: the modules that are not convex, descendants included, in order.
///
/// `attributions` is by vertex index. `apart` is as in `vertex_set`. The result is empty for a
/// graph with cycles. Complexity: O(V + E + modules), plus the stretch from first to last operator
/// for every module that is not contiguous in a topological order.
template <operator_graph_like Graph>
[[nodiscard]] std::vector<non_convex_module>
find_non_convex_modules(const Graph& graph, const tree_index& modules,
                        std::span<const attribution> attributions, std::vector<bool> apart) {
    std::vector<non_convex_module> result;
    // File order keeps modules together, an order by levels does not.
    const sweep_order<Graph> sweep(graph);
    if (sweep.has_cycle()) {
        return result;
    }
    const detail::contiguous_modules contiguous(graph, sweep, modules, attributions, apart);
    std::vector<id> scattered;
    for (id m = 1; m < modules.size(); ++m) {
        if (!contiguous(m)) {
            scattered.push_back(m);
        }
    }
    if (scattered.empty()) {
        return result;
    }
    std::vector<vertex_t<Graph>> order(num_vertices(graph));
    std::size_t listed = 0;
    bool by_index = true;
    sweep.forward([&](const vertex_t<Graph>& v) {
        by_index = by_index && detail::index_of(graph, v) == listed;
        order[listed++] = v;
    });
    std::vector<id> rank(by_index ? 0 : order.size());
    for (std::size_t i = 0; i < rank.size(); ++i) {
        rank[detail::index_of(graph, order[i])] = static_cast<id>(i);
    }
    const detail::module_members members(modules, attributions);
    detail::vertex_set set(order.size());
    set.apart = std::move(apart);
    const auto put_inside = [&](id m, bool inside) {
        for (auto below = m; below < modules.end(m); ++below) {
            for (auto v : members.direct(below)) {
                set.inside[v] = inside;
            }
        }
    };
    std::vector<id> led_by;
    for (auto m : scattered) {
        // With the same operators as its parent, the answer is the parent's.
        if (members.count(m) == members.count(modules.parent(m))) {
            if (!result.empty() && result.back().module == modules.parent(m)) {
                result.push_back({m, result.back().witness});
            }
            continue;
        }
        put_inside(m, true);
        const detail::order_stretch<Graph> stretch(order, rank, contiguous.first(m),
                                                   contiguous.end(m));
        auto path = detail::find_reentry(graph, set, stretch, led_by, [&](const auto& v) {
            return static_cast<id>(detail::index_of(graph, v));
        });
        if (!path.empty()) {
            result.push_back({m, std::move(path)});
        }
        put_inside(m, false);
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_FIND_NON_CONVEX_HPP
