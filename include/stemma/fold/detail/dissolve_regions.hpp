// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_DISSOLVE_REGIONS_HPP
#define STEMMA_FOLD_DETAIL_DISSOLVE_REGIONS_HPP

#include <stemma/core/id.hpp>
#include <stemma/fold/detail/fold_regions.hpp>

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Recounts the operators of all regions. Complexity: O(items).
inline void count_operators(std::vector<fold_region>& regions) {
    for (auto r = static_cast<id>(regions.size()); r-- > 0;) {
        regions[r].operators = 0;
        for (const auto& item : regions[r].items) {
            regions[r].operators += item.is_region ? regions[item.index].operators : 1;
        }
    }
}

/// Moves the items of some regions into the enclosing ones; these count as `left`. Duplicates in
/// one region are removed, keeping the first.
///  `dissolves[r]` says which; the first region stays. Complexity: O(items) per level of nesting.
inline void dissolve_regions(fold_regions_result& result, const std::vector<bool>& dissolves) {
    auto& regions = result.regions;
    const auto goes = [&](id r) { return r != 0 && dissolves[r]; };
    for (id r = 0; r < regions.size(); ++r) {
        const auto own = std::count_if(regions[r].items.begin(), regions[r].items.end(),
                                       [](const auto& item) { return !item.is_region; });
        if (goes(r) && own > 0) {
            result.left.push_back({regions[r].module, regions[r].call,
                                   static_cast<std::size_t>(own), regions[r].runs});
        }
    }
    for (auto r = static_cast<id>(regions.size()); r-- > 0;) {
        const auto& old = regions[r].items;
        if (std::none_of(old.begin(), old.end(),
                         [&](const auto& item) { return item.is_region && goes(item.index); })) {
            continue;
        }
        std::vector<fold_item> items;
        std::unordered_set<id> met;
        const auto put = [&](const fold_item& item) {
            if (item.is_region || met.insert(item.index).second) {
                items.push_back(item);
            }
        };
        for (const auto& item : std::exchange(regions[r].items, {})) {
            if (item.is_region && goes(item.index)) {
                std::for_each(regions[item.index].items.begin(), regions[item.index].items.end(),
                              put);
            } else {
                put(item);
            }
        }
        regions[r].items = std::move(items);
    }
    std::vector<id> number(regions.size() + 1, 0); // new number of the next one that stays
    for (id r = 0; r < regions.size(); ++r) {
        number[r + 1] = number[r] + (goes(r) ? 0U : 1U);
    }
    std::vector<fold_region> kept;
    for (id r = 0; r < regions.size(); ++r) {
        auto& region = regions[r];
        if (goes(r)) {
            continue;
        }
        while (region.parent != no_id && goes(region.parent)) {
            region.parent = regions[region.parent].parent;
        }
        region.parent = region.parent == no_id ? no_id : number[region.parent];
        region.end = number[region.end];
        for (auto& item : region.items) {
            item.index = item.is_region ? number[item.index] : item.index;
        }
        kept.push_back(std::move(region));
    }
    regions = std::move(kept);
    count_operators(regions);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_DISSOLVE_REGIONS_HPP
