// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_COST_MEASURE_HPP
#define STEMMA_COST_COST_MEASURE_HPP

#include <stemma/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// A measure for sorting modules and nodes by cost.
enum class cost_measure : std::uint8_t {
    macs,        ///< multiply-accumulates
    flops,       ///< two per MAC, plus all other operations
    activations, ///< bytes of produced values
};

/// Returns: the measure of a name: `macs`, `flops` or `activations`. Complexity: O(1).
[[nodiscard]] constexpr std::optional<cost_measure>
parse_cost_measure(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 3> names{"macs", "flops", "activations"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) {
            return static_cast<cost_measure>(i);
        }
    }
    return std::nullopt;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_COST_MEASURE_HPP
