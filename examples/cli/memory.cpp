// SPDX-License-Identifier: Apache-2.0
// Where the tables of a large model lie: in large pages, which are kept when a table goes and
// become parts of later ones, large or small. Fresh memory is cleared first, and a virtual machine
// may have to ask its host for it, which takes longer than what is done with it.
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

#    include <algorithm>
#    include <array>
#    include <cstdint>
#    include <cstdlib>
#    include <mutex>
#    include <new>

namespace {

constexpr std::size_t large_page = std::size_t{1} << 21U;
constexpr std::size_t piece = large_page / 16; // smaller tables take one or some

// A fixed threshold: one that grows would leave freed tables of one thread unused by the others.
[[maybe_unused]] const int threshold_is_fixed = mallopt(M_MMAP_THRESHOLD, 4 * piece);

/// Some pages, one behind the other.
struct range {
    char* begin = nullptr;
    std::size_t size = 0;
};

/// Ranges in no order; few are there at once.
class range_list {
public:
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] bool full() const noexcept { return count_ == ranges_.size(); }
    [[nodiscard]] range& last() noexcept { return ranges_[count_ - 1]; }
    void push(range added) noexcept { ranges_[count_++] = added; }
    void pop() noexcept { --count_; }

    /// Returns: the range that begins there, which leaves the list; or an empty one.
    [[nodiscard]] range take(const void* begin) noexcept {
        const auto end = ranges_.begin() + static_cast<std::ptrdiff_t>(count_);
        const auto found = std::find_if(ranges_.begin(), end,
                                        [&](const range& known) { return known.begin == begin; });
        if (found == end) {
            return {};
        }
        const auto taken = *found;
        *found = last();
        pop();
        return taken;
    }

private:
    std::array<range, 4096> ranges_{};
    std::size_t count_ = 0;
};

/// Large pages that are divided among smaller blocks.
class divided_pages {
public:
    [[nodiscard]] bool full() const noexcept { return count_ == pages_.size(); }
    void add(char* page) noexcept { pages_[count_++] = {page, 0}; }

    /// Returns: so many pieces in a row, or null where no page has them left.
    [[nodiscard]] char* take(std::size_t pieces) noexcept {
        const auto row = (1U << pieces) - 1;
        for (std::size_t i = 0; i < count_; ++i) {
            for (std::size_t at = 0; at + pieces <= large_page / piece; ++at) {
                if ((pages_[i].used & row << at) == 0) {
                    pages_[i].used |= row << at;
                    return pages_[i].begin + at * piece;
                }
            }
        }
        return nullptr;
    }

    /// Gives pieces of one of the pages back. Returns: the page, which leaves, if that was the last
    /// of it; or null.
    [[nodiscard]] char* give(char* begin, std::size_t pieces) noexcept {
        const auto page = std::find_if(pages_.begin(), pages_.end(), [&](const divided& p) {
            return begin >= p.begin && begin < p.begin + large_page;
        });
        const auto at = static_cast<std::size_t>(begin - page->begin) / piece;
        page->used &= ~(((1U << pieces) - 1) << at);
        if (page->used != 0) {
            return nullptr;
        }
        char* const whole = page->begin;
        *page = pages_[--count_];
        return whole;
    }

private:
    struct divided {
        char* begin = nullptr;
        unsigned used = 0; // a bit for each piece
    };

    std::array<divided, 1024> pages_{};
    std::size_t count_ = 0;
};

/// Blocks that begin with a large page, among which pages move in the page table, not in memory.
/// Once there is one, smaller blocks share large pages as well.
class large_blocks {
public:
    /// Returns: a block, or null where there is no room for one, or a smaller one is not worth it.
    [[nodiscard]] void* allocate(std::size_t size) noexcept {
        if (size > PTRDIFF_MAX) {
            return nullptr;
        }
        const std::lock_guard lock(mutex_);
        if (size < large_page) {
            return allocate_small(size);
        }
        const auto large = large_part(size);
        char* const block = used_.full() ? nullptr : reserve(whole_pages(size));
        if (block == nullptr) {
            return nullptr;
        }
        std::size_t filled = 0;
        while (filled < large && !free_.empty()) {
            auto& from = free_.last();
            const auto part = std::min(from.size, large - filled);
            from.size -= part;
            if (::mremap(from.begin + from.size, part, part, MREMAP_MAYMOVE | MREMAP_FIXED,
                         block + filled) == MAP_FAILED) {
                return nullptr;
            }
            filled += part;
            if (from.size == 0) {
                free_.pop();
            }
        }
        if (filled < large) {
            ::madvise(block + filled, large - filled, MADV_HUGEPAGE);
        }
        used_.push({block, size});
        has_large_ = true;
        return block;
    }

    /// Returns: whether the block is one of these, and is free now.
    [[nodiscard]] bool release(void* block) noexcept {
        const std::lock_guard lock(mutex_);
        const auto taken = used_.take(block);
        if (taken.begin == nullptr) {
            return false;
        }
        if (taken.size < large_page) {
            char* const page = divided_.give(taken.begin, pieces(taken.size));
            if (page != nullptr) {
                keep(page);
            }
            return true;
        }
        const auto kept = free_.full() ? 0 : large_part(taken.size);
        if (kept > 0) {
            free_.push({taken.begin, kept});
        }
        if (kept < whole_pages(taken.size)) {
            ::munmap(taken.begin + kept, whole_pages(taken.size) - kept);
        }
        return true;
    }

private:
    [[nodiscard]] static std::size_t pieces(std::size_t size) noexcept {
        return (size + piece - 1) / piece;
    }

    [[nodiscard]] char* allocate_small(std::size_t size) noexcept {
        if (!has_large_ || used_.full()) {
            return nullptr;
        }
        char* block = divided_.take(pieces(size));
        if (block == nullptr && !divided_.full()) {
            char* const page = take_page();
            if (page != nullptr) {
                divided_.add(page);
                block = divided_.take(pieces(size));
            }
        }
        if (block != nullptr) {
            used_.push({block, size});
        }
        return block;
    }

    /// Returns: a large page, one that is kept where there is any; or null.
    [[nodiscard]] char* take_page() noexcept {
        if (free_.empty()) {
            char* const page = reserve(large_page);
            if (page != nullptr) {
                ::madvise(page, large_page, MADV_HUGEPAGE);
            }
            return page;
        }
        auto& from = free_.last();
        from.size -= large_page;
        char* const page = from.begin + from.size;
        if (from.size == 0) {
            free_.pop();
        }
        return page;
    }

    void keep(char* page) noexcept {
        if (free_.full()) {
            ::munmap(page, large_page);
        } else {
            free_.push({page, large_page});
        }
    }

    [[nodiscard]] static std::size_t whole_pages(std::size_t size) noexcept {
        return (size + large_page - 1) / large_page * large_page;
    }

    /// Returns: how much of a block lies in large pages. A last one that is used by half and more
    /// is worth it; of others most may stay untouched.
    [[nodiscard]] static std::size_t large_part(std::size_t size) noexcept {
        return (size + large_page / 2 - 1) / large_page * large_page;
    }

    /// Returns: addresses that begin with a large page, or null.
    [[nodiscard]] static char* reserve(std::size_t size) noexcept {
        void* const mapped = ::mmap(nullptr, size + large_page, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) {
            return nullptr;
        }
        char* const begin = static_cast<char*>(mapped);
        const auto beside = reinterpret_cast<std::uintptr_t>(begin) % large_page; // NOLINT
        char* const block = begin + (beside == 0 ? 0 : large_page - beside);
        if (block != begin) {
            ::munmap(begin, static_cast<std::size_t>(block - begin));
        }
        const auto behind = static_cast<std::size_t>(begin + large_page - block);
        if (behind != 0) {
            ::munmap(block + size, behind);
        }
        return block;
    }

    std::mutex mutex_;
    range_list used_;
    range_list free_; // large pages only
    divided_pages divided_;
    bool has_large_ = false;
};

constinit large_blocks tables;

} // namespace

void* operator new(std::size_t size) {
    void* block = size < piece ? nullptr : tables.allocate(size);
    if (block == nullptr) {
        block = std::malloc(size == 0 ? 1 : size);
    }
    if (block == nullptr) {
        throw std::bad_alloc();
    }
    return block;
}

void operator delete(void* block) noexcept {
    const bool may_be_table = reinterpret_cast<std::uintptr_t>(block) % piece == 0; // NOLINT
    if (!may_be_table || !tables.release(block)) {
        std::free(block);
    }
}

void operator delete(void* block, std::size_t) noexcept {
    operator delete(block);
}

#endif
