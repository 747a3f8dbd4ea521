// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/parallel.hpp>

#include "../catch.hpp"

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace test::core_parallel {

TEST_CASE("for_each_part: calls once for every part, and waits", "[core][parallel]") {
    for (const std::size_t count : {0U, 1U, 2U, 9U}) {
        std::vector<std::atomic<int>> calls(count);
        stemma::for_each_part(count, [&](std::size_t part) { ++calls[part]; });
        for (const auto& times : calls) {
            CHECK(times == 1);
        }
    }
}

TEST_CASE("for_each_part: throws what the lowest part threw, after all have ended",
          "[core][parallel]") {
    std::atomic<int> ended = 0;
    try {
        stemma::for_each_part(6, [&](std::size_t part) {
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

TEST_CASE("thread_limit: divides work only as far as it is worth it", "[core][parallel]") {
    const stemma::thread_limit alone;
    CHECK(alone.parts(std::size_t{1} << 40U) == 1);
    const stemma::thread_limit four{4, 100};
    CHECK(four.parts(0) == 1);
    CHECK(four.parts(99) == 1);
    CHECK(four.parts(250) == 2);
    CHECK(four.parts(100000) == 4);
    const stemma::thread_limit none{0, 0};
    CHECK(none.parts(100) == 1);
    CHECK(stemma::thread_limit::of_machine(3).most >= 1);
    CHECK(stemma::thread_limit::of_machine(3).most <= 3);
}

} // namespace test::core_parallel
