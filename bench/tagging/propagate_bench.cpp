// SPDX-License-Identifier: Apache-2.0
// Edges per second of propagation: all policies, in exporter and in random order, with 0, 10, 50
// and 100 % evidence, and few and many readers. `both_sides`, `consumers_only` and `repropagate`
// are compared with hand-written code on plain arrays, and their first sweep also with an
// alternative. `model_sweeps_bench` has the other steps.
#include "../bare_graph.hpp"
#include "../beside.hpp"
#include "../propagation_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/model/sweeps.hpp>
#include <stemma/tagging/propagate.hpp>
#include <stemma/tagging/propagation.hpp>
#include <stemma/tagging/repropagate.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using stemma::attribution;
using stemma::id;
using stemma::no_id;
using stemma::provenance;
using stemma_bench::bare_graph;
using stemma_bench::bare_operators;
using stemma_bench::common_module;
using stemma_bench::make_scene;
using stemma_bench::measure_beside;
using stemma_bench::scene;

// Percent of evidence, random order, readers, operators.
scene make_scene(const benchmark::State& state) {
    return make_scene(static_cast<id>(state.range(3)), static_cast<id>(state.range(0)),
                      state.range(1) != 0, static_cast<id>(state.range(2)));
}

void count_edges(benchmark::State& state, const scene& base) {
    state.SetItemsProcessed(state.iterations() *
                            static_cast<std::int64_t>(base.ops.edges.edge_count()));
}

std::vector<attribution> known_of(const scene& base) {
    std::vector<attribution> result(base.evidence.size());
    for (std::size_t v = 0; v < result.size(); ++v) {
        result[v].module = base.evidence[v];
    }
    return result;
}

void sweep(benchmark::State& state) {
    const auto base = make_scene(state);
    const stemma::sweep_order order(base.ops.edges);
    const stemma::propagation_problem<bare_operators> problem{base.ops, base.tree, order,
                                                              base.evidence};
    for (auto _ : state) {
        benchmark::DoNotOptimize(stemma::common_reader_modules(problem));
    }
    count_edges(state, base);
}

/// The alternative sweep, on plain arrays: readers tell their producers, so that operators with
/// evidence cost as much as those without. Requires: exporter order.
void told_by_readers(benchmark::State& state) {
    const auto base = make_scene(state);
    const bare_graph graph(base.ops.edges);
    for (auto _ : state) {
        std::vector<std::pair<id, id>> heard(base.evidence.size(), {no_id, 0});
        std::vector<id> down(base.evidence.size(), no_id);
        for (auto v = graph.count; v-- > 0;) {
            const auto [low, high] = heard[v];
            down[v] = low == no_id ? no_id : base.tree.lca(low, high);
            const auto module = base.evidence[v] != no_id ? base.evidence[v] : down[v];
            if (module == no_id) {
                continue;
            }
            for (auto at = graph.in[v]; at < graph.in[v + 1]; ++at) {
                auto& producer = heard[graph.producer[at]];
                producer.first = std::min(producer.first, module);
                producer.second = std::max(producer.second, module);
            }
        }
        benchmark::DoNotOptimize(down.data());
        benchmark::ClobberMemory();
    }
    count_edges(state, base);
}

template <class Policy>
void whole(benchmark::State& state) {
    const auto base = make_scene(state);
    const auto start = known_of(base);
    for (auto _ : state) {
        auto result = start;
        stemma::propagate(base.ops, base.tree, result, Policy{});
        benchmark::DoNotOptimize(result.data());
    }
    count_edges(state, base);
}

std::vector<id> known_modules(const std::vector<attribution>& result) {
    std::vector<id> modules(result.size());
    for (std::size_t v = 0; v < modules.size(); ++v) {
        modules[v] = result[v].module;
    }
    return modules;
}

std::vector<id> sweep_by_hand(const bare_graph& graph, const stemma::tree_index& tree,
                              std::vector<id> modules) {
    const auto* readers = graph.reader.data();
    for (auto v = graph.count; v-- > 0;) {
        if (modules[v] == no_id) {
            modules[v] =
                common_module(modules, readers + graph.out[v], readers + graph.out[v + 1], tree);
        }
    }
    return modules;
}

/// `both_sides` for operators that have nothing but edges.
attribution from_both_sides(id below, id above, const stemma::tree_index& tree) {
    if (below == no_id) {
        return above == no_id ? attribution{0, no_id, 0, provenance::root, false}
                              : attribution{above, no_id, 0.6F, provenance::producer, false};
    }
    if (above == no_id) {
        return {below, no_id, 0.8F, provenance::consumer, false};
    }
    if (tree.are_related(below, above)) {
        return {below, no_id, below == above ? 0.85F : 0.7F, provenance::consumer, false};
    }
    return {tree.lca(below, above), no_id, 0.5F, provenance::between, false};
}

/// `consumers_only`, likewise.
void spread_by_hand(const bare_graph& graph, const stemma::tree_index& tree,
                    std::vector<attribution>& result) {
    auto up = known_modules(result);
    const auto down = sweep_by_hand(graph, tree, up);
    const auto* producers = graph.producer.data();
    for (id v = 0; v < graph.count; ++v) {
        if (up[v] == no_id) {
            up[v] = common_module(up, producers + graph.in[v], producers + graph.in[v + 1], tree);
            result[v] = from_both_sides(down[v], up[v], tree);
        }
    }
}

void propagate_both_sides(benchmark::State& state) {
    const auto base = make_scene(state);
    const bare_graph graph(base.ops.edges);
    const auto start = known_of(base);
    measure_beside(
        state,
        [&] {
            auto result = start;
            stemma::propagate(base.ops, base.tree, result, stemma::both_sides{});
            return result;
        },
        [&] {
            auto result = start;
            spread_by_hand(graph, base.tree, result);
            return result;
        });
}

void propagate_consumers_only(benchmark::State& state) {
    const auto base = make_scene(state);
    const bare_graph graph(base.ops.edges);
    const auto start = known_of(base);
    measure_beside(
        state,
        [&] {
            auto result = start;
            stemma::propagate(base.ops, base.tree, result, stemma::consumers_only{});
            return result;
        },
        [&] {
            auto result = start;
            const auto down = sweep_by_hand(graph, base.tree, known_modules(result));
            for (id v = 0; v < graph.count; ++v) {
                if (result[v].module == no_id) {
                    result[v] = down[v] == no_id ? attribution{0, no_id, 0, provenance::root, false}
                                                 : attribution{down[v], no_id, 0.6F,
                                                               provenance::consumer, false};
                }
            }
            return result;
        });
}

/// Attributed operators, of which every hundredth lost its attribution.
void repropagate(benchmark::State& state) {
    const auto base = make_scene(state);
    const bare_graph graph(base.ops.edges);
    auto start = known_of(base);
    for (auto& one : start) {
        one.source = one.module == no_id ? provenance::root : provenance::scope;
    }
    stemma::propagate(base.ops, base.tree, start);
    for (std::size_t v = 0; v < start.size(); v += 100) {
        start[v] = {};
    }
    measure_beside(
        state,
        [&] {
            auto result = start;
            auto changed = stemma::repropagate(base.ops, base.tree, result);
            return std::pair(std::move(result), std::move(changed));
        },
        [&] {
            auto result = start;
            const auto before = known_modules(result);
            for (auto& one : result) {
                if (one.source != provenance::scope) {
                    one = {};
                }
            }
            spread_by_hand(graph, base.tree, result);
            std::vector<id> changed;
            for (id v = 0; v < graph.count; ++v) {
                if (result[v].module != before[v]) {
                    changed.push_back(v);
                }
            }
            return std::pair(std::move(result), std::move(changed));
        });
}

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

BENCHMARK(sweep)->Apply(scenes)->Apply(sizes);
BENCHMARK(told_by_readers)->Apply(ordered_scenes)->Apply(sizes);
BENCHMARK_TEMPLATE(whole, stemma::both_sides)->Apply(scenes)->Apply(sizes);
BENCHMARK_TEMPLATE(whole, stemma::consumers_only)->Apply(scenes);
BENCHMARK_TEMPLATE(whole, stemma::producers_only)->Apply(scenes);
BENCHMARK_TEMPLATE(whole, stemma::nearest_evidence)->Apply(scenes);
BENCHMARK_TEMPLATE(whole, stemma::residual_aware)->Apply(scenes);
BENCHMARK_TEMPLATE(whole, stemma::no_propagation)->Apply(scenes);
BENCHMARK(propagate_both_sides)->Apply(ordered_scenes)->Apply(sizes)->Apply(stemma_bench::in_turns);
BENCHMARK(repropagate)->Apply(ordered_scenes)->Apply(sizes)->Apply(stemma_bench::in_turns);
BENCHMARK(propagate_consumers_only)
    ->Apply(ordered_scenes)
    ->Apply(sizes)
    ->Apply(stemma_bench::in_turns);

} // namespace

BENCHMARK_MAIN();
