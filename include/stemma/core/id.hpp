// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_ID_HPP
#define STEMMA_CORE_ID_HPP

#include <stemma/config.hpp>

#include <cstdint>

namespace stemma::inline STEMMA_ABI {

/// The index of a module, operator, value, edge or name: dense, from 0.
using id = std::uint32_t;

/// Stands for "none" wherever an `id` may be absent.
inline constexpr id no_id = 0xffff'ffffU;

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CORE_ID_HPP
