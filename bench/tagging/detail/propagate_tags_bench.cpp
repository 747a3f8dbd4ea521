// SPDX-License-Identifier: Apache-2.0
// Edges per second of propagating tag sets, compared with naive versions that unite sorted vectors
// and look every result up in a map or a hash table (either may be faster), and with a hand-written
// loop on plain arrays.
// Arguments: percent of operators with evidence, producers per operator.
#include "../../bare_graph.hpp"
#include "../../beside.hpp"
#include "../../propagation_scene.hpp"

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/tagging/detail/propagate_tags.hpp>

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
    const auto base = make_scene(state);
    std::vector<id> selected(base.tree.size());
    std::iota(selected.begin(), selected.end(), id{0});
    for (auto _ : state) {
        auto tags = base.evidence;
        stemma::detail::id_set_pool pool;
        stemma::detail::propagate_tags(base.ops, base.tree, selected, tags, pool);
        benchmark::DoNotOptimize(tags.data());
    }
    state.SetItemsProcessed(state.iterations() *
                            static_cast<std::int64_t>(base.ops.edges.edge_count()));
}

struct set_hash {
    std::size_t operator()(const std::vector<id>& set) const {
        std::uint64_t hash = set.size();
        for (auto element : set) {
            hash = stemma::detail::hash_mix(hash, element);
        }
        return hash;
    }
};

template <class Table>
void naive(benchmark::State& state) {
    const auto base = make_scene(state);
    const auto& graph = base.ops.edges;
    for (auto _ : state) {
        Table numbers{{{}, 0}};
        std::vector<const std::vector<id>*> texts{&numbers.begin()->first};
        const auto intern = [&](std::vector<id> set) {
            const auto [it, added] =
                numbers.try_emplace(std::move(set), static_cast<id>(texts.size()));
            if (added) {
                texts.push_back(&it->first);
            }
            return it->second;
        };
        std::vector<id> tags(base.evidence.size(), 0);
        std::vector<id> merged;
        for (auto v = graph.vertex_count(); v-- > 0;) {
            if (base.evidence[v] != no_id) {
                tags[v] = intern({base.evidence[v]});
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
            if (all.size() > stemma::detail::default_tag_cap) {
                all.assign(1, base.tree.lca(all.front(), all.back()));
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

/// The same loop on plain arrays, with the same union of sets.
void propagate_tags(benchmark::State& state) {
    const auto base = make_scene(state);
    const stemma_bench::bare_graph graph(base.ops.edges);
    std::vector<id> selected(base.tree.size());
    std::iota(selected.begin(), selected.end(), id{0});
    stemma_bench::measure_beside(
        state,
        [&] {
            auto tags = base.evidence;
            stemma::detail::id_set_pool pool;
            stemma::detail::propagate_tags(base.ops, base.tree, selected, tags, pool);
            return tags;
        },
        [&] {
            auto tags = base.evidence;
            stemma::detail::id_set_pool pool;
            stemma::detail::id_set_union readers(pool, stemma::detail::default_tag_cap);
            for (auto v = graph.count; v-- > 0;) {
                if (tags[v] != no_id) {
                    continue;
                }
                readers.clear();
                for (auto at = graph.out[v]; at < graph.out[v + 1]; ++at) {
                    readers.add(tags[graph.reader[at]]);
                }
                tags[v] = readers.is_large() ? base.tree.lca(readers.least(), readers.greatest())
                                             : readers.get();
            }
            return tags;
        });
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
BENCHMARK(propagate_tags)->Apply(shapes)->Apply(stemma_bench::in_turns);

} // namespace

BENCHMARK_MAIN();
