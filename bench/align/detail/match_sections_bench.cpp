// SPDX-License-Identifier: Apache-2.0
// The cost of matching two sections that compute the same in a different order, compared with a
// loop that is given the match and only verifies it.
#include "../../beside.hpp"

#include <stemma/align/detail/graph_section.hpp>
#include <stemma/align/detail/match_sections.hpp>
#include <stemma/core/id.hpp>

#include <benchmark/benchmark.h>
#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;
using stemma::detail::graph_section;

/// Layered items: each reads two values of the previous layer, and a weight.
struct sections {
    explicit sections(id count) : partner(count) {
        std::iota(partner.begin(), partner.end(), id{0});
        std::shuffle(partner.begin(), partner.end(), std::mt19937(3));
        first = made(std::vector<id>());
        second = made(partner);
    }

    /// In the order of `places`, or of the items.
    [[nodiscard]] graph_section made(const std::vector<id>& places) const {
        constexpr id width = 100;
        const auto count = static_cast<id>(partner.size());
        graph_section section;
        for (id value = 0; value < 2 * count; ++value) {
            section.add_value(value < count ? 0 : 1);
        }
        std::vector<id> order(count);
        std::iota(order.begin(), order.end(), id{0});
        for (id item = 0; item < places.size(); ++item) {
            order[places[item]] = item;
        }
        for (auto item : order) {
            const auto before = [&](id step) { return item < width ? no_id : item - step; };
            section.add_item(item % 7,
                             std::array{before(width), before(width / 2 + item % 3), count + item},
                             std::array{item});
        }
        return section;
    }

    std::vector<id> partner; ///< by item of the first section
    graph_section first;
    graph_section second;
};

void match_sections(benchmark::State& state) {
    const sections two(static_cast<id>(state.range(0)));
    const auto by_library = [&] {
        const stemma::detail::section_colors a(two.first);
        const stemma::detail::section_colors b(two.second);
        stemma::detail::section_match match;
        return stemma::detail::match_sections(
            two.first, a, two.second, b, [](id, id) { return true; }, match);
    };
    const auto by_hand = [&] {
        for (id item = 0; item < two.partner.size(); ++item) {
            const auto other = two.partner[item];
            if (two.first.label(item) != two.second.label(other) ||
                !ranges::equal(two.first.inputs(item), two.second.inputs(other)) ||
                !ranges::equal(two.first.outputs(item), two.second.outputs(other))) {
                return false;
            }
        }
        return true;
    };
    stemma_bench::measure_beside(state, by_library, by_hand);
}
BENCHMARK(match_sections)->Arg(10'000)->Arg(1'000'000)->Apply(stemma_bench::in_turns);

} // namespace

BENCHMARK_MAIN();
