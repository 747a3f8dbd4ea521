// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_VERSION_HPP
#define STEMMA_VERSION_HPP

/// Incremented for breaking changes, from 1.0 on.
#define STEMMA_VERSION_MAJOR 0
/// Incremented for new features; before 1.0 also for breaking changes.
#define STEMMA_VERSION_MINOR 2
/// Incremented for fixes.
#define STEMMA_VERSION_PATCH 0

/// major * 10000 + minor * 100 + patch
#define STEMMA_VERSION                                                                             \
    (STEMMA_VERSION_MAJOR * 10000 + STEMMA_VERSION_MINOR * 100 + STEMMA_VERSION_PATCH)

/// `v1_0` from 1 and 0, without macro expansion.
#define STEMMA_VERSION_JOIN(major, minor) v##major##_##minor
/// The same, with macro arguments expanded.
#define STEMMA_VERSION_NAME(major, minor) STEMMA_VERSION_JOIN(major, minor)
/// The inline namespace around all names of the library, such as `v1_0`: code compiled against
/// different versions fails to link instead of sharing objects with different layouts. Do not
/// declare names of stemma yourself; include the header that does.
#define STEMMA_ABI STEMMA_VERSION_NAME(STEMMA_VERSION_MAJOR, STEMMA_VERSION_MINOR)

#endif // STEMMA_VERSION_HPP
