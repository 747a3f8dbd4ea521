// SPDX-License-Identifier: Apache-2.0
// The cost of finding the edges between some operators, compared with a hand-written loop on plain
// arrays.
#include "../../beside.hpp"
#include "../../vertex_set_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/fold/detail/acyclic_parts.hpp>

#include <benchmark/benchmark.h>

#include <span>
#include <utility>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;

void find_induced_edges(benchmark::State& state) {
    const stemma_bench::vertex_set_scene scene(state);
    const auto& graph = scene.bare;
    const auto& members = scene.members;
    std::vector<id> place(graph.count, no_id);
    stemma_bench::measure_beside(
        state,
        [&] {
            auto induced = stemma::detail::find_induced_edges(scene.graph,
                                                              std::span<const id>(members), place);
            return std::pair(std::move(induced.first), std::move(induced.readers));
        },
        [&] {
            std::vector<id> first;
            std::vector<id> readers;
            first.reserve(members.size() + 1);
            for (id i = 0; i < members.size(); ++i) {
                place[members[i]] = i;
            }
            for (const auto v : members) {
                first.push_back(static_cast<id>(readers.size()));
                for (auto at = graph.out[v]; at < graph.out[v + 1]; ++at) {
                    if (const auto to = place[graph.reader[at]]; to != no_id) {
                        readers.push_back(to);
                    }
                }
            }
            first.push_back(static_cast<id>(readers.size()));
            for (const auto v : members) {
                place[v] = no_id;
            }
            return std::pair(std::move(first), std::move(readers));
        });
}

BENCHMARK(find_induced_edges)->Apply(stemma_bench::vertex_sets);

} // namespace

BENCHMARK_MAIN();
