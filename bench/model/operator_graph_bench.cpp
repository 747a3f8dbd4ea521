// SPDX-License-Identifier: Apache-2.0
// The cost of building the graph, compared with the floor, a counting sort of both directions
// without edge properties, and with Boost's compressed graph and adjacency list.
#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>

#include <benchmark/benchmark.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using stemma::id;
using stemma::operator_edge;

/// Two nearby producers for every operator, in exporter order.
std::vector<operator_edge> make_edges(id count) {
    std::vector<operator_edge> edges;
    std::uint64_t state = 1;
    for (id v = 1; v < count; ++v) {
        for (id slot = 0; slot < 2; ++slot) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            const auto u = v - 1 - static_cast<id>(state >> 33U) % (v < 64 ? v : 64);
            edges.push_back({u, v, u, slot, 0});
        }
    }
    return edges;
}

template <class Build>
void run(benchmark::State& state, Build build) {
    const auto count = static_cast<id>(state.range(0));
    const auto edges = make_edges(count);
    for (auto _ : state) {
        benchmark::DoNotOptimize(build(count, edges));
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(edges.size()));
}

void floor_counts(benchmark::State& state) {
    run(state, [](id count, const std::vector<operator_edge>& edges) {
        std::vector<id> in_first(count + 1);
        std::vector<id> out_first(count + 1);
        std::vector<id> in(edges.size());
        std::vector<id> out(edges.size());
        for (const auto& e : edges) {
            ++in_first[e.target];
            ++out_first[e.source];
        }
        for (id v = 0; v < count; ++v) {
            in_first[v + 1] += in_first[v];
            out_first[v + 1] += out_first[v];
        }
        for (auto i = edges.size(); i-- > 0;) {
            in[--in_first[edges[i].target]] = edges[i].source;
            out[--out_first[edges[i].source]] = edges[i].target;
        }
        return std::pair{std::move(in), std::move(out)};
    });
}

void build(benchmark::State& state) {
    run(state, [](id count, const std::vector<operator_edge>& edges) {
        return stemma::operator_graph(count, edges);
    });
}

struct ports {
    id value = stemma::no_id;
    id in_port = stemma::no_id;
    id out_port = stemma::no_id;
};

/// The same content: both directions and three ids on every edge.
void boost_csr(benchmark::State& state) {
    using graph = boost::compressed_sparse_row_graph<boost::bidirectionalS, boost::no_property,
                                                     ports, boost::no_property, id, id>;
    run(state, [](id count, const std::vector<operator_edge>& edges) {
        std::vector<std::pair<id, id>> pairs;
        std::vector<ports> properties;
        pairs.reserve(edges.size());
        properties.reserve(edges.size());
        for (const auto& e : edges) {
            pairs.emplace_back(e.source, e.target);
            properties.push_back({e.value, e.in_port, e.out_port});
        }
        return graph(boost::edges_are_unsorted_multi_pass, pairs.begin(), pairs.end(),
                     properties.begin(), count);
    });
}

void boost_list(benchmark::State& state) {
    using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS,
                                        boost::no_property, ports>;
    run(state, [](id count, const std::vector<operator_edge>& edges) {
        graph result(count);
        for (const auto& e : edges) {
            add_edge(e.source, e.target, {e.value, e.in_port, e.out_port}, result);
        }
        return result;
    });
}

BENCHMARK(floor_counts)->RangeMultiplier(10)->Range(1000, 10000000)->Unit(benchmark::kMillisecond);
BENCHMARK(build)->RangeMultiplier(10)->Range(1000, 10000000)->Unit(benchmark::kMillisecond);
BENCHMARK(boost_csr)->RangeMultiplier(10)->Range(1000, 10000000)->Unit(benchmark::kMillisecond);
BENCHMARK(boost_list)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
