// SPDX-License-Identifier: Apache-2.0
// The cost of a topological order, compared with the same loop on plain arrays and with Boost's.
// Operators are in exporter order or shuffled.
#include "../bare_graph.hpp"
#include "../beside.hpp"
#include "../propagation_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/topological_order.hpp>

#include <benchmark/benchmark.h>
#include <boost/graph/topological_sort.hpp>

#include <cstddef>
#include <iterator>
#include <vector>

namespace {

using stemma::id;
using stemma_bench::bare_graph;
using stemma_bench::measure_beside;

/// The scene of a benchmark's arguments: whether operators are shuffled, operators.
stemma::operator_graph graph_of(const benchmark::State& state) {
    return stemma_bench::make_scene(static_cast<id>(state.range(1)), 0, state.range(0) != 0, 2)
        .ops.edges;
}

/// Kahn's algorithm: `begin` gives the predecessors of a vertex, `next_begin` and `next` its
/// successors.
std::vector<id> order_of(const std::vector<id>& begin, const std::vector<id>& next_begin,
                         const std::vector<id>& next) {
    const auto count = static_cast<id>(begin.size() - 1);
    std::vector<id> order;
    order.reserve(count);
    std::vector<id> waiting(count);
    for (id v = 0; v < count; ++v) {
        waiting[v] = begin[v + 1] - begin[v];
        if (waiting[v] == 0) {
            order.push_back(v);
        }
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
        const auto v = order[done];
        for (auto at = next_begin[v]; at < next_begin[v + 1]; ++at) {
            const auto w = next[at];
            if (--waiting[w] == 0) {
                order.push_back(w);
            }
        }
    }
    return order;
}

void topological_order(benchmark::State& state) {
    const auto graph = graph_of(state);
    const bare_graph bare(graph);
    measure_beside(
        state, [&] { return stemma::topological_order(graph); },
        [&] { return order_of(bare.in, bare.out, bare.reader); });
}

void reverse_topological_order(benchmark::State& state) {
    const auto graph = graph_of(state);
    const bare_graph bare(graph);
    measure_beside(
        state, [&] { return stemma::detail::reverse_topological_order(graph); },
        [&] { return order_of(bare.out, bare.in, bare.producer); });
}

/// `by_hand_ms` is the time of Boost's, which finds a different order.
void reverse_topological_order_beside_boost(benchmark::State& state) {
    const auto graph = graph_of(state);
    measure_beside(
        state, [&] { return stemma::detail::reverse_topological_order(graph).size(); },
        [&] {
            std::vector<id> order;
            order.reserve(num_vertices(graph));
            boost::topological_sort(graph, std::back_inserter(order));
            return order.size();
        });
}

void is_topologically_indexed(benchmark::State& state) {
    const auto graph = graph_of(state);
    const bare_graph bare(graph);
    measure_beside(
        state, [&] { return stemma::is_topologically_indexed<stemma::operator_graph>(graph); },
        [&] {
            for (id v = 0; v < bare.count; ++v) {
                for (auto at = bare.in[v]; at < bare.in[v + 1]; ++at) {
                    if (bare.producer[at] >= v) {
                        return false;
                    }
                }
            }
            return true;
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

BENCHMARK(topological_order)->Apply(scenes);
BENCHMARK(reverse_topological_order)->Apply(scenes);
BENCHMARK(reverse_topological_order_beside_boost)->Apply(scenes);
BENCHMARK(is_topologically_indexed)
    ->Args({0, 1'000})
    ->Args({0, 1'000'000})
    ->Apply(stemma_bench::in_turns);

} // namespace

BENCHMARK_MAIN();
