// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_COST_OPTIONS_HPP
#define STEMMA_COST_COST_OPTIONS_HPP

#include <stemma/cost/cost_rules.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace stemma::inline STEMMA_ABI {

/// Options for costs.
struct cost_options {
    std::map<std::string, std::int64_t> dims; ///< values of named extents
    cost_rules rules{};                       ///< costs of operators
    std::int64_t typical = 64; ///< assumed for other symbolic extents if a number is needed
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_COST_OPTIONS_HPP
