// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DIFF_OPTIONS_HPP
#define STEMMA_COMPARE_DIFF_OPTIONS_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>

#include <span>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// How two models are compared module by module.
struct diff_options {
    bool weights = true;  ///< whether data of weights are compared
    double tolerance = 0; ///< weights whose largest relative difference is no more are the same
    thread_limit threads = {};                              ///< for the data of weights
    std::span<const std::pair<id, id>> known_partners = {}; ///< nodes that are partners for sure
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_DIFF_OPTIONS_HPP
