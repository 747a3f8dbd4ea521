// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DEPENDENCE_HPP
#define STEMMA_MODEL_DEPENDENCE_HPP

#include <stemma/config.hpp>

#include <cstdint>

namespace stemma::inline STEMMA_ABI {

/// What an operator's results depend on.
enum class dependence : std::uint8_t {
    constant, ///< on nothing: a constant
    weight,   ///< on constants and initializers only
    shape,    ///< on the shapes of data, not on the data
    data,     ///< on the data that flows through the model
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_DEPENDENCE_HPP
