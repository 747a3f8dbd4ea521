// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_NESTING_HPP
#define STEMMA_MODEL_DETAIL_NESTING_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// An operator in a body, by vertex index, and the operator that owns the body.
struct body_operator {
    id v = no_id;
    id owner = no_id;
    id depth = 0; ///< the number of enclosing bodies
};

/// Returns: the operators in bodies, outermost first; none if the view knows no owners.
/// Complexity: O(V), and O(depth * log) for each operator in a body.
template <operator_view Ops>
[[nodiscard]] std::vector<body_operator> operators_in_bodies(const Ops& ops) {
    std::vector<body_operator> inner;
    if constexpr (nested_operators<Ops>) {
        const auto& graph = ops.graph();
        std::vector<std::pair<id, id>> owners; // by operator
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            if (const auto o = ops.owner(*it); o != no_id) {
                const auto v = static_cast<id>(index_of(graph, *it));
                owners.emplace_back(v, o);
                inner.push_back({v, o, 0});
            }
        }
        std::sort(owners.begin(), owners.end());
        for (auto& op : inner) {
            for (auto o = op.owner; o != no_id; ++op.depth) {
                const auto above =
                    std::lower_bound(owners.begin(), owners.end(), std::pair<id, id>(o, 0));
                o = above != owners.end() && above->first == o ? above->second : no_id;
            }
        }
        std::stable_sort(inner.begin(), inner.end(),
                         [](const auto& a, const auto& b) { return a.depth < b.depth; });
    }
    return inner;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_NESTING_HPP
