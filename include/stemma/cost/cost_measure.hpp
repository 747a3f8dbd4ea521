// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_COST_MEASURE_HPP
#define STEMMA_COST_COST_MEASURE_HPP

#include <stemma/core/parse_name.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// A measure for sorting modules and nodes by cost.
/// Names: `macs`, `flops` or `activations`.
enum class cost_measure : std::uint8_t {
    macs,        ///< multiply-accumulates
    flops,       ///< two per MAC, plus all other operations
    activations, ///< bytes of produced values
};

namespace detail {

template <>
inline constexpr std::array<std::string_view, 3> names_of_values<cost_measure>{"macs", "flops",
                                                                               "activations"};

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_COST_MEASURE_HPP
