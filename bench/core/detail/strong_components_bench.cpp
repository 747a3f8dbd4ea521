// SPDX-License-Identifier: Apache-2.0
// The cost of strong components, compared with the same loop on plain arrays and with Boost's. The
// graph is in exporter order with back edges added.
#include "../../bare_components.hpp"
#include "../../bare_graph.hpp"
#include "../../beside.hpp"
#include "../../propagation_scene.hpp"

#include <stemma/core/detail/strong_components.hpp>
#include <stemma/core/id.hpp>

#include <benchmark/benchmark.h>
#include <boost/graph/strong_components.hpp>
#include <boost/property_map/property_map.hpp>

#include <vector>

namespace {

using stemma::id;
using stemma_bench::bare_graph;

/// The graph of a benchmark's arguments: back edges per 1000 operators, whether operators are
/// shuffled, operators.
stemma::operator_graph graph_of(const benchmark::State& state) {
    const auto count = static_cast<id>(state.range(2));
    const auto graph = stemma_bench::make_scene(count, 0, state.range(1) != 0, 2).ops.edges;
    stemma_bench::random_numbers random;
    std::vector<stemma::operator_edge> given;
    for (auto [it, last] = edges(graph); it != last; ++it) {
        const auto e = *it;
        given.push_back({e.source, e.target, e.source, 0, 0});
        if (random.below(2000) < static_cast<id>(state.range(0))) {
            given.push_back({e.target, e.source, e.target, 0, 0});
        }
    }
    return {count, given};
}

void find_strong_components(benchmark::State& state) {
    const auto graph = graph_of(state);
    const bare_graph bare(graph);
    stemma_bench::measure_beside(
        state, [&] { return stemma::detail::find_strong_components(graph); },
        [&] { return stemma_bench::components_by_hand(bare.out, bare.reader); });
}

/// `by_hand_ms` is the time of Boost's.
void find_strong_components_beside_boost(benchmark::State& state) {
    const auto graph = graph_of(state);
    stemma_bench::measure_beside(
        state, [&] { return stemma::detail::find_strong_components(graph); },
        [&] {
            std::vector<id> component(num_vertices(graph));
            boost::strong_components(
                graph, boost::make_iterator_property_map(component.begin(),
                                                         get(boost::vertex_index, graph)));
            return component;
        });
}

void scenes(benchmark::internal::Benchmark* bench) {
    for (const int back : {0, 5, 100}) {
        for (const int size : {1'000, 100'000, 1'000'000}) {
            bench->Args({back, 0, size});
        }
    }
    bench->Args({5, 1, 1'000'000});
    stemma_bench::in_turns(bench);
}

BENCHMARK(find_strong_components)->Apply(scenes);
BENCHMARK(find_strong_components_beside_boost)->Apply(scenes);

} // namespace

BENCHMARK_MAIN();
