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

void count_edges(benchmark::State& state, const scene& made) {
    state.SetItemsProcessed(state.iterations() *
                            static_cast<std::int64_t>(made.ops.edges.edge_count()));
}

std::vector<attribution> known_of(const scene& made) {
    std::vector<attribution> known(made.evidence.size());
    for (std::size_t v = 0; v < known.size(); ++v) {
        known[v].module = made.evidence[v];
    }
    return known;
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

/// The alternative sweep, on plain arrays: readers tell their producers, so that operators with
/// evidence cost as much as those without. Requires: exporter order.
void told_by_readers(benchmark::State& state) {
    const auto made = make_scene(state);
    const bare_graph graph(made.ops.edges);
    for (auto _ : state) {
        std::vector<std::pair<id, id>> heard(made.evidence.size(), {no_id, 0});
        std::vector<id> down(made.evidence.size(), no_id);
        for (auto v = graph.count; v-- > 0;) {
            const auto [low, high] = heard[v];
            down[v] = low == no_id ? no_id : made.tree.lca(low, high);
            const auto known = made.evidence[v] != no_id ? made.evidence[v] : down[v];
            if (known == no_id) {
                continue;
            }
            for (auto at = graph.in[v]; at < graph.in[v + 1]; ++at) {
                auto& producer = heard[graph.producer[at]];
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
    const auto known = known_of(made);
    for (auto _ : state) {
        auto result = known;
        stemma::propagate(made.ops, made.tree, result, Policy{});
        benchmark::DoNotOptimize(result.data());
    }
    count_edges(state, made);
}

std::vector<id> known_modules(const std::vector<attribution>& result) {
    std::vector<id> known(result.size());
    for (std::size_t v = 0; v < known.size(); ++v) {
        known[v] = result[v].module;
    }
    return known;
}

std::vector<id> sweep_by_hand(const bare_graph& graph, const stemma::tree_index& tree,
                              std::vector<id> known) {
    const auto* readers = graph.reader.data();
    for (auto v = graph.count; v-- > 0;) {
        if (known[v] == no_id) {
            known[v] =
                common_module(known, readers + graph.out[v], readers + graph.out[v + 1], tree);
        }
    }
    return known;
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
    const auto made = make_scene(state);
    const bare_graph graph(made.ops.edges);
    const auto known = known_of(made);
    measure_beside(
        state,
        [&] {
            auto result = known;
            stemma::propagate(made.ops, made.tree, result, stemma::both_sides{});
            return result;
        },
        [&] {
            auto result = known;
            spread_by_hand(graph, made.tree, result);
            return result;
        });
}

void propagate_consumers_only(benchmark::State& state) {
    const auto made = make_scene(state);
    const bare_graph graph(made.ops.edges);
    const auto known = known_of(made);
    measure_beside(
        state,
        [&] {
            auto result = known;
            stemma::propagate(made.ops, made.tree, result, stemma::consumers_only{});
            return result;
        },
        [&] {
            auto result = known;
            const auto down = sweep_by_hand(graph, made.tree, known_modules(result));
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
    const auto made = make_scene(state);
    const bare_graph graph(made.ops.edges);
    auto known = known_of(made);
    for (auto& one : known) {
        one.source = one.module == no_id ? provenance::root : provenance::scope;
    }
    stemma::propagate(made.ops, made.tree, known);
    for (std::size_t v = 0; v < known.size(); v += 100) {
        known[v] = {};
    }
    measure_beside(
        state,
        [&] {
            auto result = known;
            auto changed = stemma::repropagate(made.ops, made.tree, result);
            return std::pair(std::move(result), std::move(changed));
        },
        [&] {
            auto result = known;
            const auto before = known_modules(result);
            for (auto& one : result) {
                if (one.source != provenance::scope) {
                    one = {};
                }
            }
            spread_by_hand(graph, made.tree, result);
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
