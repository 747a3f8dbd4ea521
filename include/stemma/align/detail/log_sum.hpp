// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_LOG_SUM_HPP
#define STEMMA_ALIGN_DETAIL_LOG_SUM_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <cmath>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the logarithm of the sum of two numbers given as logarithms; minus infinity is 0.
[[nodiscard]] inline double log_sum(double a, double b) {
    const auto high = std::max(a, b);
    const auto low = std::min(a, b);
    return std::isinf(low) ? high : high + std::log1p(std::exp(low - high));
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_LOG_SUM_HPP
