// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/detail/live_memory.hpp>

#include "../../catch.hpp"

#include <cstdint>

namespace test::cost_detail_live_memory {

TEST_CASE("live_memory: a peak includes values that live across", "[cost]") {
    const stemma::tree_index tree({stemma::no_id, 0, 0});
    stemma::detail::live_memory memory;
    const auto across = memory.add(100);
    memory.step(0);
    const auto inner = memory.add(10);
    memory.step(1);
    memory.use(inner);
    const auto large = memory.add(1000);
    memory.step(2);
    memory.use(large);
    memory.use(across);
    memory.step(0);
    const auto peaks = memory.peaks(
        tree, [](std::int64_t bytes) { return static_cast<double>(bytes); },
        [](std::int64_t bytes) { return stemma::polynomial(bytes); });
    CHECK(peaks[1] == stemma::polynomial(110));
    CHECK(peaks[2] == stemma::polynomial(1110));
    CHECK(peaks[0] == stemma::polynomial(1110));
}

} // namespace test::cost_detail_live_memory
