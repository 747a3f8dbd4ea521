// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_SORT_BY_COST_HPP
#define STEMMA_QUERY_SORT_BY_COST_HPP

#include <stemma/core/id.hpp>
#include <stemma/cost/cost_measure.hpp>
#include <stemma/cost/model_cost.hpp>
#include <stemma/query/query_answer.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>

namespace stemma::inline STEMMA_ABI {

/// Sorts the modules and nodes of an answer by cost, the most expensive first, and truncates each
/// list. Nodes in functions count at the calls, and come last. Requires: `cost` is that of the
/// queried model. Complexity: O(n log n) of the lists.
inline void sort_by_cost(query_answer& answer, const model_cost& cost, cost_measure by,
                         std::size_t most = std::numeric_limits<std::size_t>::max()) {
    detail::sort_by(answer.modules, most, std::less<>(),
                    [&](id m) { return cost.estimate(m, by); });
    detail::sort_by(answer.nodes, most, std::less<>(),
                    [&](id node) { return cost.node_estimate(node, by); });
    for (auto* list : {&answer.values, &answer.initializers}) {
        list->resize(std::min(list->size(), most));
    }
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_QUERY_SORT_BY_COST_HPP
