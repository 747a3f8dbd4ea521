// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SIBLING_ORDER_HPP
#define STEMMA_EVIDENCE_DETAIL_SIBLING_ORDER_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the number that a child name is, as in a list.
[[nodiscard]] inline std::optional<std::uint64_t> list_place(std::string_view attribute) {
    std::uint64_t number = 0;
    const auto* const end = attribute.data() + attribute.size();
    const auto read = std::from_chars(attribute.data(), end, number);
    return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

/// Guesses the order in which siblings were defined from where their names were found.
///
/// List members are ordered by number. Others that parameters name, the first `named`, keep their
/// order, which is that of definition. A module that only operators name comes before the first of
/// these that is used after it. `first_use` is by module of the builder.
/// Returns: all modules but the root, siblings in that order. Complexity: O(modules * log
/// siblings).
[[nodiscard]] inline std::vector<id> sibling_order(const module_tree_builder& builder, id named,
                                                   std::span<const id> first_use) {
    const auto count = static_cast<id>(builder.size());
    const grouped_ids children(count, [&](auto take) {
        for (id m = 1; m < count; ++m) {
            take(builder.parent(m), m);
        }
    });
    std::vector<id> order;
    order.reserve(count - 1);
    std::vector<std::pair<std::uint64_t, id>> numbered;
    std::vector<id> used; // siblings named by operators only
    for (id parent = 0; parent < count; ++parent) {
        const auto siblings = children[parent];
        numbered.clear();
        for (auto m : siblings) {
            if (const auto place = list_place(builder.name(m))) {
                numbered.emplace_back(*place, m);
            }
        }
        if (numbered.size() == siblings.size()) {
            std::sort(numbered.begin(), numbered.end());
            std::transform(numbered.begin(), numbered.end(), std::back_inserter(order),
                           [](const auto& entry) { return entry.second; });
            continue;
        }
        const auto other =
            std::partition_point(siblings.begin(), siblings.end(), [&](id m) { return m < named; });
        used.assign(other, siblings.end());
        std::stable_sort(used.begin(), used.end(),
                         [&](id a, id b) { return first_use[a] < first_use[b]; });
        auto next = siblings.begin();
        for (auto m : used) {
            const auto later =
                std::find_if(next, other, [&](id n) { return first_use[n] > first_use[m]; });
            order.insert(order.end(), next, later);
            order.push_back(m);
            next = later;
        }
        order.insert(order.end(), next, other);
    }
    return order;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SIBLING_ORDER_HPP
