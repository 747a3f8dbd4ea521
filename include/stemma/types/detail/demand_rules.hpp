// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_DEMAND_RULES_HPP
#define STEMMA_TYPES_DETAIL_DEMAND_RULES_HPP

#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/window_rules.hpp>

#include <cstddef>
#include <optional>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns the rank that an operator demands of an input, if it demands one of that.
using rank_demand = std::optional<std::size_t> (*)(const rule_node& node, std::size_t slot);

/// Ranks that operators demand of what they read.
namespace demands {

template <std::size_t Rank, std::size_t... Slots>
std::optional<std::size_t> fixed(const rule_node&, std::size_t slot) {
    return ((slot == Slots) || ...) ? std::optional(Rank) : std::nullopt;
}

/// As many extents as a window slides over, or as the weights have, besides batch and channels.
template <std::size_t Weights>
std::optional<std::size_t> window(const rule_node& node, std::size_t slot) {
    return slot == 0 ? rules::rank_of_window(node, Weights) : std::nullopt;
}

inline std::optional<std::size_t> permutation(const rule_node& node, std::size_t) {
    const auto order = node.attributes().wholes("perm");
    return order ? std::optional(order->size()) : std::nullopt;
}

inline std::optional<std::size_t> padding(const rule_node& node, std::size_t slot) {
    const auto pads = slot == 0 && !node.has_input(3) ? node.literal(1, "pads") : std::nullopt;
    return pads ? std::optional(pads->size() / 2) : std::nullopt;
}

/// All inputs have equal ranks.
inline std::optional<std::size_t> any_input(const rule_node& node, std::size_t) {
    for (std::size_t slot = 0; slot < node.input_count(); ++slot) {
        if (node.input(slot).ranked()) {
            return node.input(slot).rank();
        }
    }
    return std::nullopt;
}

} // namespace demands

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_DEMAND_RULES_HPP
