// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_PREFETCH_HPP
#define STEMMA_CORE_DETAIL_PREFETCH_HPP

#include <stemma/config.hpp>

namespace stemma::inline STEMMA_ABI::detail {

/// Asks the processor to load what will be read soon. Without effect on what is computed; any
/// address may be given. Complexity: constant.
inline void prefetch(const void* address) noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(address);
    // Else GCC takes a function that does nothing else for one without effect, and calls to it go.
    __asm__ volatile("");
#else
    static_cast<void>(address);
#endif
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_PREFETCH_HPP
