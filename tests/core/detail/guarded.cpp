// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/guarded.hpp>

#include "../../catch.hpp"

#include <thread>
#include <vector>

namespace test::core_detail_guarded {

TEST_CASE("guarded: concurrent threads change the value one at a time") {
    stemma::detail::guarded<std::vector<int>> shared;
    shared.emplace(1, 0);
    const auto& view = shared;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 1000; ++i) {
                view.ask([](auto& all) { all.push_back(all.back() + 1); });
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK(shared->size() == 4001);
    CHECK((*shared).back() == 4000);
}

TEST_CASE("guarded: gives references to what it keeps") {
    stemma::detail::guarded<std::vector<int>> shared;
    shared.emplace(3, 7);
    const auto& first = shared.ask([](auto& all) -> const auto& { return all.front(); });
    CHECK(&first == &shared->front());
}

} // namespace test::core_detail_guarded
