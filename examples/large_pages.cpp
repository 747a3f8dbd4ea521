// SPDX-License-Identifier: Apache-2.0
// Linked into a program, such as `stemma`, this allocates the tables of a large model in large
// pages, and reuses the pages of freed tables. Fresh memory must be cleared, and a virtual machine
// may have to get it from its host, which takes longer than using it. An allocator library would do
// far more than that (docs/benchmarks.md, "puts tables of 2 MiB and more").
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
#    include <bit>
#    include <cstdint>
#    include <cstdlib>
#    include <mutex>
#    include <new>

namespace {

constexpr std::size_t large_page = std::size_t{1} << 21U;
constexpr std::size_t piece = large_page / 64; // smaller tables take one or more

// A fixed threshold: with a growing one, threads would not reuse each other's freed tables.
[[maybe_unused]] const int threshold_is_fixed = mallopt(M_MMAP_THRESHOLD, 1 << 19);

/// An unordered list of fixed capacity.
template <class T>
class short_list {
public:
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] bool full() const noexcept { return count_ == items_.size(); }
    [[nodiscard]] T* begin() noexcept { return items_.data(); }
    [[nodiscard]] T* end() noexcept { return items_.data() + count_; }
    void push(T added) noexcept { items_[count_++] = added; }
    T pop() noexcept { return items_[--count_]; }
    /// Removes and returns one of them.
    T take(T* item) noexcept {
        const T value = *item;
        *item = pop();
        return value;
    }

private:
    std::array<T, 4096> items_{};
    std::size_t count_ = 0;
};

/// Large pages shared by smaller blocks.
class divided_pages {
public:
    [[nodiscard]] bool full() const noexcept { return pages_.full(); }
    void add(char* page) noexcept { pages_.push({page, 0}); }

    /// Returns: that many consecutive pieces, or null if no page has them.
    [[nodiscard]] char* take(std::size_t pieces) noexcept {
        for (auto& page : pages_) {
            auto begins = ~page.used; // starts of long enough runs
            for (std::size_t row = 1; row < pieces && begins != 0; ++row) {
                begins &= begins >> 1U;
            }
            if (begins != 0) {
                const auto at = static_cast<std::size_t>(std::countr_zero(begins));
                page.used |= row_of(pieces) << at;
                return page.begin + at * piece;
            }
        }
        return nullptr;
    }

    /// Frees pieces of a page. Returns: the page, removed, if it is now empty; or null.
    [[nodiscard]] char* give(char* begin, std::size_t pieces) noexcept {
        auto* const page = std::find_if(pages_.begin(), pages_.end(), [&](const divided& p) {
            return begin >= p.begin && begin < p.begin + large_page;
        });
        const auto at = static_cast<std::size_t>(begin - page->begin) / piece;
        page->used &= ~(row_of(pieces) << at);
        return page->used == 0 ? pages_.take(page).begin : nullptr;
    }

private:
    struct divided {
        char* begin = nullptr;
        std::uint64_t used = 0; // a bit for each piece
    };

    [[nodiscard]] static std::uint64_t row_of(std::size_t pieces) noexcept {
        return ~std::uint64_t{0} >> (large_page / piece - pieces);
    }

    short_list<divided> pages_;
};

/// Blocks that start with a large page, between which pages are remapped, not copied, and smaller
/// ones, which share large pages.
class large_blocks {
public:
    /// Returns: a block, or null if out of memory.
    [[nodiscard]] void* allocate(std::size_t size) noexcept {
        if (size > PTRDIFF_MAX) {
            return nullptr;
        }
        const std::lock_guard lock(mutex_);
        if (size < large_page) {
            return allocate_small(size);
        }
        char* const block = used_.full() ? nullptr : reserve(whole_pages(size));
        if (block == nullptr) {
            return nullptr;
        }
        if (!fill(block, large_part(size))) {
            ::munmap(block, whole_pages(size));
            return nullptr;
        }
        used_.push({block, size});
        return block;
    }

    /// Returns: whether the block belonged here and was freed.
    [[nodiscard]] bool release(void* block) noexcept {
        const std::lock_guard lock(mutex_);
        if (const auto large = take(used_, block); large.begin != nullptr) {
            release_large(large);
            return true;
        }
        const auto small = take(used_small_, block);
        if (small.begin == nullptr) {
            return false;
        }
        char* const page = divided_.give(small.begin, pieces(small.size));
        if (page != nullptr && !keep(page)) {
            ::munmap(page, large_page);
        }
        return true;
    }

private:
    struct used_block {
        char* begin = nullptr;
        std::size_t size = 0;
    };

    /// Removes and returns the block that starts there, if any.
    [[nodiscard]] static used_block take(short_list<used_block>& blocks,
                                         const void* begin) noexcept {
        auto* const entry =
            std::find_if(blocks.begin(), blocks.end(),
                         [&](const used_block& block) { return block.begin == begin; });
        return entry == blocks.end() ? used_block{} : blocks.take(entry);
    }

    /// Fills a block with kept large pages, and allocates missing ones. Returns: whether the block
    /// is complete.
    [[nodiscard]] bool fill(char* block, std::size_t large) noexcept {
        std::size_t filled = 0;
        // One at a time: kernels before 6.17 cannot move pages of different mappings at once.
        for (; filled < large && !free_.empty(); filled += large_page) {
            char* const page = free_.pop();
            if (::mremap(page, large_page, large_page, MREMAP_MAYMOVE | MREMAP_FIXED,
                         block + filled) == MAP_FAILED) {
                free_.push(page);
                // These addresses may be unmapped now, so the rest of the block is mapped again.
                if (::mmap(block + filled, large - filled, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
                    return false;
                }
                break;
            }
        }
        if (filled < large) {
            ::madvise(block + filled, large - filled, MADV_HUGEPAGE);
        }
        return true;
    }

    void release_large(used_block block) noexcept {
        const auto large = large_part(block.size);
        std::size_t usable = 0;
        while (usable < large && keep(block.begin + usable)) {
            usable += large_page;
        }
        if (usable < whole_pages(block.size)) {
            ::munmap(block.begin + usable, whole_pages(block.size) - usable);
        }
    }

    [[nodiscard]] static std::size_t pieces(std::size_t size) noexcept {
        return (size + piece - 1) / piece;
    }

    [[nodiscard]] char* allocate_small(std::size_t size) noexcept {
        if (used_small_.full()) {
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
            used_small_.push({block, size});
        }
        return block;
    }

    /// Returns: a large page, preferably a kept one, or null.
    [[nodiscard]] char* take_page() noexcept {
        if (!free_.empty()) {
            return free_.pop();
        }
        char* const page = reserve(large_page);
        if (page != nullptr) {
            ::madvise(page, large_page, MADV_HUGEPAGE);
        }
        return page;
    }

    /// Returns: whether it could be kept.
    [[nodiscard]] bool keep(char* page) noexcept {
        if (free_.full()) {
            return false;
        }
        free_.push(page);
        return true;
    }

    [[nodiscard]] static std::size_t whole_pages(std::size_t size) noexcept {
        return (size + large_page - 1) / large_page * large_page;
    }

    /// Returns: the size of a block in large pages. A last one at least half used is worth it;
    /// others may stay mostly untouched.
    [[nodiscard]] static std::size_t large_part(std::size_t size) noexcept {
        return (size + large_page / 2 - 1) / large_page * large_page;
    }

    /// Returns: addresses aligned to a large page, or null.
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
    short_list<used_block> used_;
    short_list<used_block> used_small_;
    short_list<char*> free_; // large pages
    divided_pages divided_;
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
