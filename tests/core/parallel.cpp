// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/parallel.hpp>

#include "../catch.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace test::core_parallel {

TEST_CASE("for_each_part: calls once for every part, and waits", "[core][parallel]") {
    for (const std::size_t count : {0U, 1U, 2U, 9U}) {
        std::vector<std::atomic<int>> calls(count);
        stemma::detail::for_each_part(count, [&](std::size_t part) { ++calls[part]; });
        for (const auto& times : calls) {
            CHECK(times == 1);
        }
    }
}

TEST_CASE("for_each_part: throws what the lowest part threw, after all have ended",
          "[core][parallel]") {
    std::atomic<int> ended = 0;
    try {
        stemma::detail::for_each_part(6, [&](std::size_t part) {
            ++ended;
            if (part == 2 || part == 4) {
                throw std::runtime_error(std::to_string(part));
            }
        });
        FAIL("nothing was thrown");
    } catch (const std::runtime_error& thrown) {
        CHECK(thrown.what() == std::string("2"));
        CHECK(ended == 6);
    }
}

TEST_CASE("thread_limit: divides work only as far as worthwhile", "[core][parallel]") {
    const stemma::thread_limit alone;
    CHECK(alone.parts(std::size_t{1} << 40U) == 1);
    const stemma::thread_limit four{4, 100};
    CHECK(four.parts(0) == 1);
    CHECK(four.parts(99) == 1);
    CHECK(four.parts(250) == 2);
    CHECK(four.parts(100000) == 4);
    CHECK(four.parts_of_tensors(1) == 1);
    CHECK(four.parts_of_tensors(2) == 4);
    const stemma::thread_limit none{0, 0};
    CHECK(none.parts(100) == 1);
    CHECK(stemma::thread_limit::of_machine(3).most >= 1);
    CHECK(stemma::thread_limit::of_machine(3).most <= 3);
}

TEST_CASE("thread_scope: holds for this thread, and until the next or its end", "[parallel]") {
    const auto most = [] { return stemma::thread_limit::current().most; };
    CHECK(most() == 1);
    {
        const stemma::thread_scope outer({4, 100});
        CHECK(most() == 4);
        CHECK(stemma::thread_limit::current().least_bytes == 100);
        {
            const stemma::thread_scope inner({2});
            CHECK(most() == 2);
        }
        CHECK(most() == 4);
        unsigned elsewhere = 0;
        std::thread([&] { elsewhere = most(); }).join();
        CHECK(elsewhere == 1);
    }
    CHECK(most() == 1);
}

TEST_CASE("thread_scope: what an algorithm has started counts", "[parallel]") {
    const auto most = [] { return stemma::thread_limit::current().most; };
    const stemma::thread_scope threads({4, 1});
    std::array<unsigned, 3> in_part{};
    stemma::detail::for_each_part(3, [&](std::size_t part) { in_part[part] = most(); });
    CHECK(in_part == std::array<unsigned, 3>{2, 1, 1});
    stemma::detail::for_each_part(1, [&](std::size_t part) { in_part[part] = most(); });
    CHECK(in_part[0] == 4);
    stemma::detail::for_each_part(9, [&](std::size_t part) {
        if (part == 0) {
            in_part[0] = most();
        }
    });
    CHECK(in_part[0] == 1);
    unsigned beside = 0;
    stemma::task_beside task(1000, [&] { beside = most(); });
    CHECK(most() == 3);
    task.wait();
    CHECK(beside == 1);
    CHECK(most() == 4);
}

TEST_CASE("for_each_range: the ranges cover everything, in order and of about equal length",
          "[core][parallel]") {
    for (const std::size_t size : {0U, 1U, 2U, 7U, 100U}) {
        for (const std::size_t count : {1U, 2U, 3U, 8U}) {
            std::vector<std::pair<std::size_t, std::size_t>> ranges(count);
            stemma::detail::for_each_range(
                size, count, [&](std::size_t part, std::size_t begin, std::size_t end) {
                    ranges[part] = {begin, end};
                });
            std::size_t at = 0;
            for (const auto& [begin, end] : ranges) {
                CHECK(begin == at);
                CHECK(end - begin >= size / count);
                CHECK(end - begin <= size / count + 1);
                at = end;
            }
            CHECK(at == size);
        }
    }
}

TEST_CASE("run_tasks: runs every task once, with any number of threads", "[core][parallel]") {
    for (const std::size_t threads : {0U, 1U, 2U, 9U}) {
        std::array<std::atomic<int>, 3> runs{};
        stemma::detail::run_tasks(threads,
                                  {[&] { ++runs[0]; }, [&] { ++runs[1]; }, [&] { ++runs[2]; }});
        for (const auto& times : runs) {
            CHECK(times == 1);
        }
    }
}

TEST_CASE("task_beside: ends before the wait does, with any number of threads", "[parallel]") {
    for (const unsigned most : {1U, 4U}) {
        const stemma::thread_scope threads({most, 1});
        int calls = 0;
        std::thread::id where;
        stemma::task_beside task(1000, [&] {
            ++calls;
            where = std::this_thread::get_id();
        });
        task.wait();
        CHECK(calls == 1);
        CHECK((where == std::this_thread::get_id()) == (most == 1));
        stemma::task_beside failing(1000, [] { throw std::runtime_error("failed"); });
        CHECK_THROWS_WITH(failing.wait(), "failed");
    }
}

TEST_CASE("task_beside: its thread ends before it is destroyed", "[parallel]") {
    std::atomic<bool> ended = false;
    {
        const stemma::thread_scope threads({4, 1});
        const stemma::task_beside task(1000, [&] { ended = true; });
    }
    CHECK(ended);
}

TEST_CASE("for_each_item: every item once, by an existing worker", "[core][parallel]") {
    for (const std::size_t workers : {std::size_t{1}, std::size_t{3}}) {
        std::vector<int> runs(100);
        std::atomic<bool> valid = true;
        stemma::detail::for_each_item(runs.size(), workers,
                                      [&](std::size_t item, std::size_t worker) {
                                          ++runs[item];
                                          valid = valid && worker < workers;
                                      });
        CHECK(runs == std::vector<int>(100, 1));
        CHECK(valid);
    }
    stemma::detail::for_each_item(0, 2, [](std::size_t, std::size_t) { FAIL("there is no item"); });
}

TEST_CASE("for_each_item: throws what the lowest item threw", "[core][parallel]") {
    for (const std::size_t workers : {std::size_t{1}, std::size_t{3}}) {
        for (const std::size_t count : {std::size_t{8}, std::size_t{100}}) {
            std::string what;
            try {
                stemma::detail::for_each_item(count, workers, [](std::size_t item, std::size_t) {
                    if (item >= 7) {
                        throw std::runtime_error(std::to_string(item));
                    }
                });
            } catch (const std::runtime_error& thrown) {
                what = thrown.what();
            }
            CHECK(what == "7");
        }
    }
}

} // namespace test::core_parallel
