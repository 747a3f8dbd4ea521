// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/made_once.hpp>

#include "../../catch.hpp"

#include <thread>
#include <vector>

namespace test::core_detail_made_once {

TEST_CASE("made_once: concurrent threads get the value that one of them made") {
    const stemma::detail::made_once<std::vector<int>> once;
    int calls = 0;
    std::vector<const std::vector<int>*> values(4);
    std::vector<std::thread> threads;
    for (auto& one : values) {
        threads.emplace_back(
            [&] { one = &once.get([&] { return std::vector<int>(3, ++calls); }); });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK(calls == 1);
    CHECK(*values[0] == std::vector<int>{1, 1, 1});
    CHECK(values == std::vector<const std::vector<int>*>(4, values[0]));
}

} // namespace test::core_detail_made_once
