// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_COST_OPTIONS_HPP
#define STEMMA_COST_COST_OPTIONS_HPP

#include <stemma/cost/cost_rules.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace stemma::inline STEMMA_ABI {

/// How costs are counted.
struct cost_options {
    std::map<std::string, std::int64_t> dims; ///< values of extents that have names
    cost_rules rules{};                       ///< what operators cost
    std::int64_t typical = 64; ///< what other extents are taken for where a number is needed
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_COST_OPTIONS_HPP
