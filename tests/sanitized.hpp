// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_SANITIZED_HPP
#define STEMMA_TESTS_SANITIZED_HPP

namespace test {

/// Whether a sanitizer is active, which makes tests many times slower: exhaustive tests may then
/// try a subset, as they are exhaustive elsewhere.
#if defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#    else
inline constexpr bool sanitized = false;
#    endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

} // namespace test

#endif // STEMMA_TESTS_SANITIZED_HPP
