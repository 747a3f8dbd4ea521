// SPDX-License-Identifier: Apache-2.0
// How many edges a second do sets of tags pass? Beside it a naive version, which unites sorted
// vectors and looks every result up, in a map and in a hash table, neither of which is the faster
// one everywhere; and the floor, which looks at every edge once.
// Operators with evidence, in per cent, and how many producers each has.
#include "propagation_scene.hpp"

#include <stemma/algorithm/propagate_tags.hpp>
#include <stemma/core/hash.hpp>
#include <stemma/core/id_set_pool.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>
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

struct set_hash {
    std::size_t operator()(const std::vector<id>& set) const {
        std::uint64_t hash = set.size();
        for (auto element : set) {
            hash = stemma::hash_mix(hash, element);
        }
        return hash;
    }
};

template <class Table>
void naive(benchmark::State& state) {
    const auto made = make_scene(state);
    const auto& graph = made.ops.edges;
    for (auto _ : state) {
        Table known{{{}, 0}};
        std::vector<const std::vector<id>*> texts{&known.begin()->first};
        const auto intern = [&](std::vector<id> set) {
            const auto [it, added] =
                known.try_emplace(std::move(set), static_cast<id>(texts.size()));
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

void naive_map(benchmark::State& state) {
    naive<std::map<std::vector<id>, id>>(state);
}

void naive_table(benchmark::State& state) {
    naive<std::unordered_map<std::vector<id>, id, set_hash>>(state);
}

void floor_edges(benchmark::State& state) {
    const auto made = make_scene(state);
    const auto& graph = made.ops.edges;
    for (auto _ : state) {
        auto tags = made.evidence;
        for (auto v = graph.vertex_count(); v-- > 0;) {
            if (tags[v] == no_id) {
                for (auto [it, last] = adjacent_vertices(v, graph); it != last; ++it) {
                    tags[v] = std::min(tags[v], tags[*it]);
                }
            }
        }
        benchmark::DoNotOptimize(tags.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(graph.edge_count()));
}

void shapes(benchmark::internal::Benchmark* bench) {
    for (const auto producers : {2, 8}) {
        for (const auto percent : {0, 2, 10, 50, 90, 100}) {
            bench->Args({percent, producers})->Unit(benchmark::kMillisecond);
        }
    }
}

BENCHMARK(sets)->Apply(shapes);
BENCHMARK(naive_map)->Apply(shapes);
BENCHMARK(naive_table)->Apply(shapes);
BENCHMARK(floor_edges)->Apply(shapes);

} // namespace

BENCHMARK_MAIN();
