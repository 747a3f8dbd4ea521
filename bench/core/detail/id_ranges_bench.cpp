// SPDX-License-Identifier: Apache-2.0
// The cost of ranges over a tree, alone and under a range-v3 view, compared with the loops they
// replace.
#include "../../beside.hpp"

#include <stemma/core/detail/id_ranges.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <benchmark/benchmark.h>
#include <range/v3/view/filter.hpp>

#include <cstdint>
#include <vector>

namespace {

using stemma::id;
using stemma_bench::measure_beside;

/// A complete tree of so many vertices, six children each.
stemma::tree_index tree_of(const benchmark::State& state) {
    const auto count = static_cast<id>(state.range(0));
    std::vector<id> parents{stemma::no_id};
    std::vector<id> way{0};
    while (parents.size() < count) {
        const auto r = static_cast<id>(parents.size());
        parents.push_back(way.back());
        if (way.size() < 8) {
            way.push_back(r);
        } else {
            for (id up = r; up % 6 == 0 && way.size() > 1; up /= 6) {
                way.pop_back();
            }
        }
    }
    return stemma::tree_index(parents);
}

void children(benchmark::State& state) {
    const auto tree = tree_of(state);
    const auto count = static_cast<id>(tree.size());
    measure_beside(
        state,
        [&] {
            std::uint64_t sum = 0;
            for (id r = 0; r < count; ++r) {
                for (const id child : tree.children(r)) {
                    sum = sum * 3 + child;
                }
            }
            return sum;
        },
        [&] {
            std::uint64_t sum = 0;
            for (id r = 0; r < count; ++r) {
                for (id child = r + 1; child < tree.end(r); child = tree.end(child)) {
                    sum = sum * 3 + child;
                }
            }
            return sum;
        });
}

void ancestors(benchmark::State& state) {
    const auto tree = tree_of(state);
    const auto count = static_cast<id>(tree.size());
    measure_beside(
        state,
        [&] {
            std::uint64_t sum = 0;
            for (id r = 0; r < count; ++r) {
                for (const id above : tree.ancestors(r)) {
                    sum = sum * 3 + above;
                }
            }
            return sum;
        },
        [&] {
            std::uint64_t sum = 0;
            for (id r = 0; r < count; ++r) {
                for (auto above = tree.parent(r); above != stemma::no_id;
                     above = tree.parent(above)) {
                    sum = sum * 3 + above;
                }
            }
            return sum;
        });
}

void filtered_descendants(benchmark::State& state) {
    const auto tree = tree_of(state);
    const auto is_leaf = [&](id r) { return tree.end(r) == r + 1; };
    measure_beside(
        state,
        [&] {
            std::uint64_t sum = 0;
            for (const id r : tree.descendants(0) | ranges::views::filter(is_leaf)) {
                sum = sum * 3 + r;
            }
            return sum;
        },
        [&] {
            std::uint64_t sum = 0;
            for (id r = 1; r < tree.end(0); ++r) {
                if (is_leaf(r)) {
                    sum = sum * 3 + r;
                }
            }
            return sum;
        });
}

void sizes(benchmark::internal::Benchmark* bench) {
    for (const int size : {1'000, 1'000'000}) {
        bench->Arg(size);
    }
    stemma_bench::in_turns(bench);
}

BENCHMARK(children)->Apply(sizes);
BENCHMARK(ancestors)->Apply(sizes);
BENCHMARK(filtered_descendants)->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
