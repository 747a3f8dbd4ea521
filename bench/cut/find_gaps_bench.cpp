// SPDX-License-Identifier: Apache-2.0
// The cost of finding the gaps of a set, compared with a hand-written loop on plain arrays of
// operators in exporter order.
#include "../beside.hpp"
#include "../vertex_set_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/cut/find_gaps.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

using stemma::id;

void find_gaps(benchmark::State& state) {
    const stemma_bench::vertex_set_scene made(state);
    const auto& graph = made.bare;
    const auto& set = made.set;
    const auto stretch = made.stretch();
    stemma_bench::measure_beside(
        state, [&] { return stemma::find_gaps(made.graph, set, stretch); },
        [&] {
            enum : std::uint8_t { nothing, behind, member, gap };
            const auto [first, last] = made.range();
            std::vector<std::uint8_t> known(last - first, nothing);
            for (auto v = first; v < last; ++v) {
                if (set.apart[v]) {
                    continue;
                }
                if (set.inside[v]) {
                    known[v - first] = member;
                    continue;
                }
                for (auto at = graph.in[v]; at < graph.in[v + 1]; ++at) {
                    const auto u = graph.producer[at];
                    if (u >= first && known[u - first] != nothing) {
                        known[v - first] = behind;
                        break;
                    }
                }
            }
            std::vector<id> found;
            for (auto v = last; v-- > first;) {
                if (known[v - first] != behind) {
                    continue;
                }
                for (auto at = graph.out[v]; at < graph.out[v + 1]; ++at) {
                    const auto u = graph.reader[at];
                    if (u < last && known[u - first] >= member) {
                        known[v - first] = gap;
                        found.push_back(v);
                        break;
                    }
                }
            }
            std::reverse(found.begin(), found.end());
            return found;
        });
}

BENCHMARK(find_gaps)->Apply(stemma_bench::vertex_sets);

} // namespace

BENCHMARK_MAIN();
