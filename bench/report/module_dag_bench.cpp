// SPDX-License-Identifier: Apache-2.0
// The cost of the DAGs of all modules, compared with a hand-written loop on plain arrays.
#include "../bare_graph.hpp"
#include "../beside.hpp"
#include "../propagation_scene.hpp"

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/report/module_dag.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;

/// A comparable digest of a DAG.
void digest(std::vector<std::uint64_t>& sums, const stemma::detail::module_dag& dag) {
    std::uint64_t sum = dag.operators.size();
    for (const auto& [from, to] : dag.edges) {
        sum += (std::uint64_t{from} << 32U) + to;
    }
    sums.push_back(sum);
}

void module_dags(benchmark::State& state) {
    const auto base =
        stemma_bench::make_scene(static_cast<id>(state.range(1)), 100, state.range(0) != 0, 2);
    const stemma_bench::bare_graph graph(base.ops.edges);
    const auto& modules = base.tree;
    const auto& module = base.evidence;
    stemma_bench::measure_beside(
        state,
        [&] {
            stemma::detail::module_dags dags(base.ops.edges, modules,
                                             [&](id v, auto take) { take(module[v]); });
            std::vector<std::uint64_t> sums;
            for (id m = 0; m < modules.size(); ++m) {
                digest(sums, dags.of(m));
            }
            return sums;
        },
        [&] {
            const stemma::detail::grouped_ids members(modules.size(), [&](auto take) {
                for (id v = 0; v < graph.count; ++v) {
                    take(module[v], v);
                }
            });
            std::vector<id> inside(graph.count, no_id);
            stemma::detail::module_dag dag;
            std::vector<std::uint64_t> sums;
            for (id m = 0; m < modules.size(); ++m) {
                const auto all = members.range(m, modules.end(m));
                dag.operators.assign(all.begin(), all.end());
                if (!std::is_sorted(dag.operators.begin(), dag.operators.end())) {
                    std::sort(dag.operators.begin(), dag.operators.end());
                }
                for (const auto v : dag.operators) {
                    inside[v] = m;
                }
                dag.edges.clear();
                for (const auto v : dag.operators) {
                    const auto first = static_cast<std::ptrdiff_t>(dag.edges.size());
                    for (auto at = graph.out[v]; at < graph.out[v + 1]; ++at) {
                        if (const auto u = graph.reader[at]; inside[u] == m) {
                            dag.edges.emplace_back(v, u);
                        }
                    }
                    // Readers of one operator are sorted.
                    dag.edges.erase(std::unique(dag.edges.begin() + first, dag.edges.end()),
                                    dag.edges.end());
                }
                digest(sums, dag);
            }
            return sums;
        });
}

void scenes(benchmark::internal::Benchmark* bench) {
    for (const int shuffled : {0, 1}) {
        for (const int size : {1'000, 100'000, 1'000'000}) {
            bench->Args({shuffled, size});
        }
    }
    stemma_bench::in_turns(bench);
}

BENCHMARK(module_dags)->Apply(scenes);

} // namespace

BENCHMARK_MAIN();
