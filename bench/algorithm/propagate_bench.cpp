// SPDX-License-Identifier: Apache-2.0
// How many edges a second does propagation pass? All policies, in exporter order and in random
// order, with 0, 10, 50 and 100 % evidence, and with few and many readers. Beside it the floor: the
// common-ancestor sweep written by hand on bare arrays. Without any evidence nothing is swept:
// there the floor tells the cost of an operator, not of an edge.
#include "propagation_scene.hpp"

#include <stemma/algorithm/propagate.hpp>
#include <stemma/algorithm/sweeps.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/policy/propagation.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;

using stemma_bench::bare_operators;
using stemma_bench::make_scene;
using stemma_bench::scene;

scene make_scene(const benchmark::State& state) {
    return make_scene(static_cast<id>(state.range(3)), static_cast<id>(state.range(0)),
                      state.range(1) != 0, static_cast<id>(state.range(2)));
}

void count_edges(benchmark::State& state, const scene& made) {
    state.SetItemsProcessed(state.iterations() *
                            static_cast<std::int64_t>(made.ops.edges.edge_count()));
}

void sweep(benchmark::State& state) {
    const auto made = make_scene(state);
    const stemma::sweep_order order(made.ops.edges);
    const stemma::propagation_problem<bare_operators> problem{made.ops, made.tree, order,
                                                              made.evidence};
    for (auto _ : state) {
        benchmark::DoNotOptimize(stemma::common_reader_modules(problem));
    }
    count_edges(state, made);
}

/// Neighbours of operators, one behind the other, and where those of each begin.
struct bare_lists {
    std::vector<id> first{0};
    std::vector<id> all;
};

/// `neighbours(v)` gives the first and the end of those of an operator.
template <class Neighbours>
bare_lists list_all(id count, Neighbours neighbours) {
    bare_lists lists;
    for (id v = 0; v < count; ++v) {
        const auto [first, last] = neighbours(v);
        lists.all.insert(lists.all.end(), first, last);
        lists.first.push_back(static_cast<id>(lists.all.size()));
    }
    return lists;
}

/// The same sweep on bare arrays. Requires exporter order.
void floor_sweep(benchmark::State& state) {
    const auto made = make_scene(state);
    const auto& graph = made.ops.edges;
    const auto readers =
        list_all(graph.vertex_count(), [&](id v) { return adjacent_vertices(v, graph); });
    for (auto _ : state) {
        auto known = made.evidence;
        for (auto v = static_cast<id>(known.size()); v-- > 0;) {
            if (known[v] != no_id) {
                continue;
            }
            id low = no_id;
            id behind = 0;
            for (auto at = readers.first[v]; at < readers.first[v + 1]; ++at) {
                low = std::min(low, known[readers.all[at]]);
                behind = std::max(behind, known[readers.all[at]] + 1);
            }
            known[v] = low == no_id ? no_id : made.tree.lca(low, behind - 1);
        }
        benchmark::DoNotOptimize(known.data());
        benchmark::ClobberMemory();
    }
    count_edges(state, made);
}

/// The other way to sweep, on bare arrays: readers tell their producers, so that operators with
/// evidence cost as much as those without. Requires exporter order.
void floor_told_by_readers(benchmark::State& state) {
    const auto made = make_scene(state);
    const auto& graph = made.ops.edges;
    const auto producers = list_all(graph.vertex_count(), [&](id v) {
        return std::pair(graph.producers(v).begin(), graph.producers(v).end());
    });
    for (auto _ : state) {
        std::vector<std::pair<id, id>> heard(made.evidence.size(), {no_id, 0});
        std::vector<id> down(made.evidence.size(), no_id);
        for (auto v = static_cast<id>(down.size()); v-- > 0;) {
            const auto [low, high] = heard[v];
            down[v] = low == no_id ? no_id : made.tree.lca(low, high);
            const auto known = made.evidence[v] != no_id ? made.evidence[v] : down[v];
            if (known == no_id) {
                continue;
            }
            for (auto at = producers.first[v]; at < producers.first[v + 1]; ++at) {
                auto& producer = heard[producers.all[at]];
                producer.first = std::min(producer.first, known);
                producer.second = std::max(producer.second, known);
            }
        }
        benchmark::DoNotOptimize(down.data());
        benchmark::ClobberMemory();
    }
    count_edges(state, made);
}

template <class Policy>
void whole(benchmark::State& state) {
    const auto made = make_scene(state);
    std::vector<stemma::attribution> known(made.evidence.size());
    for (std::size_t v = 0; v < known.size(); ++v) {
        known[v].module = made.evidence[v];
    }
    for (auto _ : state) {
        auto result = known;
        stemma::propagate(made.ops, made.tree, result, Policy{});
        benchmark::DoNotOptimize(result.data());
    }
    count_edges(state, made);
}

// Percent of evidence, random order, readers, operators.
void ordered_scenes(benchmark::internal::Benchmark* bench) {
    for (const int percent : {0, 10, 50, 100}) {
        bench->Args({percent, 0, 2, 1'000'000});
    }
    bench->Args({50, 0, 8, 1'000'000})->Unit(benchmark::kMillisecond);
}

void scenes(benchmark::internal::Benchmark* bench) {
    ordered_scenes(bench);
    bench->Args({50, 1, 2, 1'000'000});
}

void sizes(benchmark::internal::Benchmark* bench) {
    for (const int size : {1'000, 10'000, 100'000, 10'000'000}) {
        bench->Args({50, 0, 2, size});
    }
}

BENCHMARK(floor_sweep)->Apply(ordered_scenes)->Apply(sizes);
BENCHMARK(floor_told_by_readers)->Apply(ordered_scenes)->Apply(sizes);
BENCHMARK(sweep)->Apply(scenes)->Apply(sizes);
BENCHMARK_TEMPLATE(whole, stemma::both_sides)->Apply(scenes)->Apply(sizes);
BENCHMARK_TEMPLATE(whole, stemma::consumers_only)->Apply(scenes);
BENCHMARK_TEMPLATE(whole, stemma::producers_only)->Apply(scenes);
BENCHMARK_TEMPLATE(whole, stemma::nearest_evidence)->Apply(scenes);
BENCHMARK_TEMPLATE(whole, stemma::residual_aware)->Apply(scenes);
BENCHMARK_TEMPLATE(whole, stemma::no_propagation)->Apply(scenes);

} // namespace

BENCHMARK_MAIN();
