// SPDX-License-Identifier: Apache-2.0
// How many edges a second do sets of tags pass? Beside it a naive version, which unites sorted
// vectors and looks every result up in a map. Operators with evidence, in per cent, and how many
// producers each has.
#include "propagation_scene.hpp"

#include <stemma/algorithm/propagate_tags.hpp>
#include <stemma/core/id_set_pool.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;
using stemma_bench::scene;

scene make_scene(const benchmark::State& state) {
    return stemma_bench::make_scene(1000000, static_cast<id>(state.range(0)), false,
                                    static_cast<id>(state.range(1)));
}

void sets(benchmark::State& state) {
    const auto made = make_scene(state);
    std::vector<id> selected(made.tree.size());
    std::iota(selected.begin(), selected.end(), id{0});
    for (auto _ : state) {
        auto tags = made.evidence;
        stemma::id_set_pool pool;
        stemma::propagate_tags(made.ops, made.tree, selected, tags, pool);
        benchmark::DoNotOptimize(tags.data());
    }
    state.SetItemsProcessed(state.iterations() *
                            static_cast<std::int64_t>(made.ops.edges.edge_count()));
}

void naive(benchmark::State& state) {
    const auto made = make_scene(state);
    const auto& graph = made.ops.edges;
    for (auto _ : state) {
        std::map<std::vector<id>, id> known{{{}, 0}};
        std::vector<const std::vector<id>*> texts{&known.begin()->first};
        const auto intern = [&](std::vector<id> set) {
            const auto [it, added] = known.emplace(std::move(set), static_cast<id>(texts.size()));
            if (added) {
                texts.push_back(&it->first);
            }
            return it->second;
        };
        std::vector<id> tags(made.evidence.size(), 0);
        std::vector<id> merged;
        for (auto v = graph.vertex_count(); v-- > 0;) {
            if (made.evidence[v] != no_id) {
                tags[v] = intern({made.evidence[v]});
                continue;
            }
            std::vector<id> all;
            for (auto [it, last] = adjacent_vertices(v, graph); it != last; ++it) {
                const auto& more = *texts[tags[*it]];
                merged.clear();
                std::set_union(all.begin(), all.end(), more.begin(), more.end(),
                               std::back_inserter(merged));
                all.swap(merged);
            }
            if (all.size() > stemma::default_tag_cap) {
                all.assign(1, made.tree.lca(all.front(), all.back()));
            }
            tags[v] = intern(std::move(all));
        }
        benchmark::DoNotOptimize(tags.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(graph.edge_count()));
}

void shapes(benchmark::internal::Benchmark* bench) {
    for (const auto percent : {10, 50, 100}) {
        bench->Args({percent, 2});
    }
    bench->Args({50, 8})->Unit(benchmark::kMillisecond);
}

BENCHMARK(sets)->Apply(shapes);
BENCHMARK(naive)->Apply(shapes);

} // namespace

BENCHMARK_MAIN();
