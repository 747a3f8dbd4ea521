// SPDX-License-Identifier: Apache-2.0
// The cost of finding the gaps of a set, compared with a hand-written loop on plain arrays of
// operators in exporter order.
#include "../../beside.hpp"
#include "../../vertex_set_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/cut/detail/find_reentry.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

using stemma::id;

void find_gaps(benchmark::State& state) {
    const stemma_bench::vertex_set_scene scene(state);
    const auto& graph = scene.bare;
    const auto& set = scene.set;
    const auto stretch = scene.stretch();
    stemma_bench::measure_beside(
        state, [&] { return stemma::detail::find_gaps(scene.graph, set, stretch); },
        [&] {
            enum : std::uint8_t { nothing, behind, member, gap };
            const auto [first, last] = scene.range();
            std::vector<std::uint8_t> states(last - first, nothing);
            for (auto v = first; v < last; ++v) {
                if (set.apart[v]) {
                    continue;
                }
                if (set.inside[v]) {
                    states[v - first] = member;
                    continue;
                }
                for (auto at = graph.in[v]; at < graph.in[v + 1]; ++at) {
                    const auto u = graph.producer[at];
                    if (u >= first && states[u - first] != nothing) {
                        states[v - first] = behind;
                        break;
                    }
                }
            }
            std::vector<id> gaps;
            for (auto v = last; v-- > first;) {
                if (states[v - first] != behind) {
                    continue;
                }
                for (auto at = graph.out[v]; at < graph.out[v + 1]; ++at) {
                    const auto u = graph.reader[at];
                    if (u < last && states[u - first] >= member) {
                        states[v - first] = gap;
                        gaps.push_back(v);
                        break;
                    }
                }
            }
            std::reverse(gaps.begin(), gaps.end());
            return gaps;
        });
}

BENCHMARK(find_gaps)->Apply(stemma_bench::vertex_sets);

} // namespace

BENCHMARK_MAIN();
