// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_SORT_ANSWER_HPP
#define STEMMA_QUERY_SORT_ANSWER_HPP

#include <stemma/core/id.hpp>
#include <stemma/cost/model_cost.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/query/query_answer.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Sorts the lists of an answer, if an order is given, and truncates each. Nodes count by the
/// parameters that they read; entries without a size come last. Complexity: O(n log n) in the
/// lists, and that of the facts.
inline void sort_answer(query_answer& answer, const attributed_model& opened,
                        std::optional<query_answer::order> by,
                        std::size_t most = std::numeric_limits<std::size_t>::max()) {
    const auto& model = opened.model();
    const auto facts = detail::facts_of(opened);
    if (!by) {
        for (auto* list : {&answer.modules, &answer.nodes, &answer.values, &answer.initializers}) {
            list->resize(std::min(list->size(), most));
        }
        return;
    }
    const auto size_of = [&](id value) {
        const auto fact = facts.value(value);
        if (*by == query_answer::order::bytes) {
            return fact.bytes.value_or(0);
        }
        constexpr double largest = 9e18; // elements; more than any file stores
        double elements = fact.ranked ? 1 : 0;
        for (const auto& extent : fact.extents) {
            std::uint64_t number = 0;
            const auto* end = extent.data() + extent.size();
            const bool is_number = std::from_chars(extent.data(), end, number).ptr == end;
            elements = is_number ? std::min(elements * static_cast<double>(number), largest) : 0;
        }
        return static_cast<std::uint64_t>(elements);
    };
    const auto size_of_module = [&](id m) -> std::uint64_t {
        return *by == query_answer::order::nodes        ? facts.statistics().nodes[m]
               : *by == query_answer::order::parameters ? facts.parameters(m)
                                                        : facts.weight_bytes(m);
    };
    const auto size_of_node = [&](id node) {
        std::uint64_t size = 0;
        for (auto value : facts.weights_of(node)) {
            size += size_of(value);
        }
        return size;
    };
    if (*by == query_answer::order::name) {
        const auto sort = [&](std::vector<id>& list, auto name) {
            detail::sort_by(list, most, std::greater<>(), name);
        };
        sort(answer.modules, [&](id m) { return opened.modules().report_path(m); });
        sort(answer.nodes, [&](id node) { return model.name(node); });
        sort(answer.values, [&](id value) { return model.value_name(value); });
        sort(answer.initializers, [&](id value) { return model.value_name(value); });
        return;
    }
    detail::sort_by(answer.modules, most, std::less<>(), size_of_module);
    detail::sort_by(answer.nodes, most, std::less<>(), size_of_node);
    detail::sort_by(answer.values, most, std::less<>(), size_of);
    detail::sort_by(answer.initializers, most, std::less<>(), size_of);
}

/// Sorts the modules and nodes of an answer by cost, the most expensive first, and truncates each
/// list. Nodes in functions count at the calls, and come last. Requires: `cost` is that of the
/// queried model. Complexity: O(n log n) of the lists.
inline void sort_answer(query_answer& answer, const model_cost& cost, cost_measure by,
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

#endif // STEMMA_QUERY_SORT_ANSWER_HPP
