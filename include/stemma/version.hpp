// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_VERSION_HPP
#define STEMMA_VERSION_HPP

/// Raised by what breaks callers, from 1.0 on.
#define STEMMA_VERSION_MAJOR 0
/// Raised by what is new; before 1.0 also by what breaks callers.
#define STEMMA_VERSION_MINOR 2
/// Raised by what is corrected.
#define STEMMA_VERSION_PATCH 0

/// major * 10000 + minor * 100 + patch
#define STEMMA_VERSION                                                                             \
    (STEMMA_VERSION_MAJOR * 10000 + STEMMA_VERSION_MINOR * 100 + STEMMA_VERSION_PATCH)

#endif // STEMMA_VERSION_HPP
