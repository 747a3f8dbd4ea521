// SPDX-License-Identifier: Apache-2.0
// The cost of correcting the evidence on operators that several modules use, compared with a
// hand-written loop on plain arrays.
#include "../../bare_graph.hpp"
#include "../../beside.hpp"
#include "../../propagation_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/model/sweeps.hpp>
#include <stemma/tagging/detail/overrule_shared.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using stemma::attribution;
using stemma::id;
using stemma::no_id;
using stemma::detail::overruled;

/// Operators with known effect on data.
struct aware_operators {
    using graph_type = stemma::operator_graph;

    [[nodiscard]] const graph_type& graph() const { return edges; }
    [[nodiscard]] bool reads_data(id v) const { return reads[v] != 0; }
    [[nodiscard]] bool hides_data(id v) const { return hides[v] != 0; }

    graph_type edges;
    std::vector<std::uint8_t> reads; ///< by operator
    std::vector<std::uint8_t> hides; ///< by operator
};

/// Blocks of 80 operators; every fifth is a constant or hides data, and some of these are also read
/// in the next block.
struct shared_scene {
    explicit shared_scene(id count) {
        stemma_bench::random_numbers random;
        tree = stemma_bench::make_scene(count, 0, false, 2).tree;
        std::vector<stemma::operator_edge> edges;
        for (id v = 0; v < count; ++v) {
            const bool constant = v > 0 && random.below(10) == 0;
            for (id slot = 0; slot < (v == 0 || constant ? 0 : 2); ++slot) {
                const auto u = v - 1 - random.below(std::min<id>(v, 40));
                edges.push_back({u, v, u, slot, 0});
            }
            ops.reads.push_back(v == 0 ? 1 : 0);
            ops.hides.push_back(random.below(10) == 0 ? 1 : 0);
            attribution stated;
            if (random.below(100) < 80) {
                stated = {v / 80 * 16 + 1 + v % 80 / 5, 0, 0.95F, stemma::provenance::scope, false};
            }
            evidence.push_back(stated);
        }
        ops.edges = stemma::operator_graph(count, edges);
    }

    aware_operators ops;
    stemma::tree_index tree;
    std::vector<attribution> evidence;
};

/// A comparable result.
struct corrected {
    std::vector<attribution> of;
    std::vector<overruled> changed;

    friend bool operator==(const corrected& a, const corrected& b) {
        const auto same = [](const attribution& x, const attribution& y) {
            return x.module == y.module && x.call == y.call && x.confidence == y.confidence &&
                   x.source == y.source && x.conflict == y.conflict;
        };
        return std::equal(a.of.begin(), a.of.end(), b.of.begin(), b.of.end(), same) &&
               std::equal(a.changed.begin(), a.changed.end(), b.changed.begin(), b.changed.end(),
                          [&](const overruled& x, const overruled& y) {
                              return x.v == y.v && same(x.before, y.before) &&
                                     x.readers == y.readers && x.least == y.least;
                          });
    }
};

std::vector<overruled> overrule_by_hand(const stemma_bench::bare_graph& graph,
                                        const stemma::tree_index& tree,
                                        std::vector<attribution>& result,
                                        const std::vector<bool>& independent) {
    std::vector<overruled> changed;
    for (id v = 0; v < graph.count; ++v) {
        const auto module = result[v].module;
        if (module == no_id || !independent[v]) {
            continue;
        }
        bool foreign = false;
        bool own = graph.in[v] == graph.in[v + 1];
        id low = no_id;
        id high = 0;
        float least = std::min(0.7F, result[v].confidence);
        for (auto at = graph.out[v]; at < graph.out[v + 1]; ++at) {
            const auto reader = result[graph.reader[at]].module;
            if (reader != no_id) {
                low = std::min(low, reader);
                high = std::max(high, reader);
                least = std::min(least, result[graph.reader[at]].confidence);
                foreign = foreign || !tree.are_related(reader, module);
                own = own || tree.is_ancestor(module, reader);
            }
        }
        if (foreign && own) {
            changed.push_back({v, result[v], tree.lca(low, high), least});
        }
    }
    for (const auto& one : changed) {
        result[one.v] = {tree.lca(one.before.module, one.readers), no_id, one.least,
                         one.before.source, true};
    }
    return changed;
}

std::vector<bool> independent_by_hand(const stemma_bench::bare_graph& graph,
                                      const aware_operators& ops) {
    std::vector<bool> independent(graph.count, false);
    for (id v = 0; v < graph.count; ++v) {
        bool constant = ops.hides[v] != 0;
        if (!constant && ops.reads[v] == 0) {
            constant = true;
            for (auto at = graph.in[v]; at < graph.in[v + 1] && constant; ++at) {
                constant = independent[graph.producer[at]];
            }
        }
        independent[v] = constant;
    }
    return independent;
}

/// Both start from their own copy of the same evidence.
template <class Algorithm, class ByHand>
void overrule_beside(benchmark::State& state, Algorithm algorithm, ByHand by_hand) {
    const shared_scene scene(static_cast<id>(state.range(0)));
    const stemma_bench::bare_graph bare(scene.ops.edges);
    const auto independent =
        stemma::data_independent(scene.ops, stemma::sweep_order(scene.ops.edges));
    const auto on_copy = [&](auto overrule) {
        auto of = scene.evidence;
        auto changed = overrule(of);
        return corrected{std::move(of), std::move(changed)};
    };
    stemma_bench::measure_beside(
        state, [&] { return on_copy([&](auto& of) { return algorithm(scene, of, independent); }); },
        [&] { return on_copy([&](auto& of) { return by_hand(bare, scene, of, independent); }); });
}

void overrule_shared_known(benchmark::State& state) {
    overrule_beside(
        state,
        [](const auto& scene, auto& of, const auto& independent) {
            return stemma::detail::overrule_shared(scene.ops, scene.tree, of, independent);
        },
        [](const auto& bare, const auto& scene, auto& of, const auto& independent) {
            return overrule_by_hand(bare, scene.tree, of, independent);
        });
}

void overrule_shared(benchmark::State& state) {
    overrule_beside(
        state,
        [](const auto& scene, auto& of, const auto&) {
            return stemma::detail::overrule_shared(scene.ops, scene.tree, of);
        },
        [](const auto& bare, const auto& scene, auto& of, const auto&) {
            return overrule_by_hand(bare, scene.tree, of, independent_by_hand(bare, scene.ops));
        });
}

void sizes(benchmark::internal::Benchmark* bench) {
    bench->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
    stemma_bench::in_turns(bench);
}

BENCHMARK(overrule_shared_known)->Apply(sizes);
BENCHMARK(overrule_shared)->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
