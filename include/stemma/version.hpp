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

/// `v1_0` of 1 and 0, which are taken as they are spelled.
#define STEMMA_VERSION_JOIN(major, minor) v##major##_##minor
/// The same, with macros among the arguments expanded.
#define STEMMA_VERSION_NAME(major, minor) STEMMA_VERSION_JOIN(major, minor)
/// The inline namespace around all names of the library, such as `v1_0`: code compiled against
/// another version fails to link instead of sharing objects of another layout. Do not declare
/// names of stemma yourself; include the header that does.
#define STEMMA_ABI STEMMA_VERSION_NAME(STEMMA_VERSION_MAJOR, STEMMA_VERSION_MINOR)

#endif // STEMMA_VERSION_HPP
