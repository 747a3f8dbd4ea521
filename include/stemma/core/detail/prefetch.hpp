// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_PREFETCH_HPP
#define STEMMA_CORE_DETAIL_PREFETCH_HPP

#include <stemma/config.hpp>

namespace stemma::inline STEMMA_ABI::detail {

/// Asks the processor to load what will be read soon. No effect on results; any address may be
/// passed. Complexity: constant.
inline void prefetch(const void* address) noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(address);
    // Without this barrier GCC deems the function pure and drops calls to it.
    __asm__ volatile("");
#else
    static_cast<void>(address);
#endif
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_PREFETCH_HPP
