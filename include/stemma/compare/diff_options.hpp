// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DIFF_OPTIONS_HPP
#define STEMMA_COMPARE_DIFF_OPTIONS_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/real_text.hpp>

#include <span>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// Options for comparing two models by module.
struct diff_options {
    bool weights = true;  ///< compare data of weights
    double tolerance = 0; ///< weights are equal up to this largest relative difference
    std::span<const std::pair<id, id>> known_partners = {}; ///< nodes known to correspond

    /// Throws: `error` of `error_code::refused` if the tolerance is negative or NaN.
    void check() const {
        if (!(tolerance >= 0)) {
            STEMMA_THROW(error(error_code::refused, "", "tolerance",
                               detail::real_text(tolerance) + " is not a number from 0"));
        }
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_DIFF_OPTIONS_HPP
