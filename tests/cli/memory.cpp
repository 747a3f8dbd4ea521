// SPDX-License-Identifier: Apache-2.0
// What examples/large_pages.cpp puts in the place of the compiler's own `new` and `delete`.
#include "../catch.hpp"
#include "../random_numbers.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace test::cli_memory {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t large_page = std::size_t{1} << 21U;

/// A block that holds its own number in every page and at its end.
class marked_block {
public:
    marked_block(std::size_t size, std::uint64_t mark)
        : size_(size), mark_(mark), begin_(static_cast<char*>(::operator new(size))) {
        for_each_place([&](char* place) { std::memcpy(place, &mark_, sizeof mark_); });
    }
    marked_block(marked_block&& other) noexcept
        : size_(other.size_), mark_(other.mark_), begin_(std::exchange(other.begin_, nullptr)) {}
    marked_block& operator=(marked_block&& other) noexcept {
        std::swap(size_, other.size_);
        std::swap(mark_, other.mark_);
        std::swap(begin_, other.begin_);
        return *this;
    }
    ~marked_block() { ::operator delete(begin_); }

    [[nodiscard]] bool is_whole() {
        bool whole = true;
        for_each_place([&](const char* place) {
            whole = whole && std::memcmp(place, &mark_, sizeof mark_) == 0;
        });
        return whole;
    }

private:
    template <class Function>
    void for_each_place(Function f) {
        for (std::size_t at = 0; at + sizeof mark_ <= size_; at += page) {
            f(begin_ + at);
        }
        f(begin_ + (size_ - sizeof mark_));
    }

    std::size_t size_;
    std::uint64_t mark_;
    char* begin_;
};

[[nodiscard]] long page_faults() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

} // namespace

TEST_CASE("memory: blocks of all sizes do not overlap, in several threads") {
    std::atomic<std::size_t> broken = 0;
    std::atomic<std::uint64_t> next_mark = 1;
    const auto work = [&](std::uint64_t seed) {
        test::random_numbers random(seed);
        std::vector<marked_block> blocks;
        for (int step = 0; step < 400; ++step) {
            if (blocks.size() < 8 || (blocks.size() < 24 && random.one_in(2))) {
                const auto around = random(5) * large_page;
                const auto size = random.one_in(4) ? around + random(3) * page + sizeof(page)
                                                   : around + random(large_page) + sizeof(page);
                blocks.emplace_back(size, next_mark++);
            } else {
                std::swap(blocks[random(blocks.size())], blocks.back());
                broken += blocks.back().is_whole() ? 0U : 1U;
                blocks.pop_back();
            }
        }
        broken += static_cast<std::size_t>(std::count_if(
            blocks.begin(), blocks.end(), [](marked_block& block) { return !block.is_whole(); }));
    };
    std::vector<std::thread> threads;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        threads.emplace_back(work, seed);
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK(broken == 0);
}

TEST_CASE("memory: freed tables are reused") {
    constexpr std::size_t size = 32 * large_page;
    { const marked_block first(size, 1); }
    const auto before = page_faults();
    {
        marked_block left(size / 2 - page, 2);
        marked_block right(size / 4, 3);
        CHECK(left.is_whole());
        CHECK(right.is_whole());
    }
    CHECK(page_faults() - before < 16);
}

TEST_CASE("memory: tables span pages from different places, repeatedly") {
    for (std::uint64_t round = 0; round < 8; ++round) {
        {
            marked_block left(5 * large_page, 1);
            marked_block right(7 * large_page, 2);
            marked_block between(large_page / 2, 3);
        }
        marked_block joined((10 + round) * large_page, 4);
        CHECK(joined.is_whole());
    }
}

TEST_CASE("memory: many small tables leave room for a large one") {
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < 5000; ++i) {
        blocks.push_back(::operator new(large_page / 16));
    }
    void* const large = ::operator new(8 * large_page);
    CHECK(reinterpret_cast<std::uintptr_t>(large) % large_page == 0);
    ::operator delete(large);
    for (auto* block : blocks) {
        ::operator delete(block);
    }
}

TEST_CASE("memory: small tables share the pages freed by large ones") {
    { const marked_block first(32 * large_page, 1); }
    const auto before = page_faults();
    std::vector<marked_block> blocks;
    for (std::uint64_t i = 0; i < 40; ++i) {
        blocks.emplace_back(large_page / 64 * (2 + i % 36) - i, i);
    }
    CHECK(std::all_of(blocks.begin(), blocks.end(),
                      [](marked_block& block) { return block.is_whole(); }));
    blocks.clear();
    { marked_block whole(32 * large_page, 2); }
    CHECK(page_faults() - before < 32);
}

TEST_CASE("memory: handles more blocks than it tracks") {
    for (const auto size : {large_page, large_page / 2}) {
        std::set<void*> blocks; // never touched, so that they take no memory
        for (std::size_t i = 0; i < 5000; ++i) {
            blocks.insert(::operator new(size));
        }
        CHECK(blocks.size() == 5000);
        for (auto* block : blocks) {
            ::operator delete(block);
        }
    }
}

TEST_CASE("memory: rejects excessive sizes") {
    // Otherwise the compiler may omit the allocation.
    [[maybe_unused]] void* volatile block = nullptr;
    for (const auto size : {std::numeric_limits<std::size_t>::max(),
                            std::numeric_limits<std::size_t>::max() / 2, std::size_t{1} << 60U}) {
        CHECK_THROWS_AS(block = ::operator new(size), std::bad_alloc);
    }
}

} // namespace test::cli_memory
