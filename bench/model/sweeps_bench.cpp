// SPDX-License-Identifier: Apache-2.0
// The cost of the steps of propagation, compared with hand-written loops on plain arrays of
// operators in exporter order.
#include "../bare_graph.hpp"
#include "../beside.hpp"
#include "../propagation_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/model/sweeps.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;
using stemma_bench::bare_graph;
using stemma_bench::common_module;
using stemma_bench::measure_beside;
using stemma_bench::scene;

/// Operators with known effect on data.
struct aware_operators {
    using graph_type = stemma::operator_graph;

    [[nodiscard]] const graph_type& graph() const { return edges; }
    [[nodiscard]] bool reads_data(id v) const { return reads[v] != 0; }
    [[nodiscard]] bool hides_data(id v) const { return hides[v] != 0; }
    [[nodiscard]] bool reads_condition(const graph_type::edge& e) const {
        return condition[e.index] != 0;
    }

    const graph_type& edges;
    std::vector<std::uint8_t> reads;     ///< by operator
    std::vector<std::uint8_t> hides;     ///< by operator
    std::vector<std::uint8_t> condition; ///< by edge
};

/// The scene of a benchmark's arguments: percent of evidence, producers per operator, operators.
struct aware_scene {
    explicit aware_scene(const benchmark::State& state)
        : base(stemma_bench::make_scene(static_cast<id>(state.range(2)),
                                        static_cast<id>(state.range(0)), false,
                                        static_cast<id>(state.range(1))))
        , bare(base.ops.edges)
        , ops{base.ops.edges, {}, {}, {}} {
        stemma_bench::random_numbers random;
        for (id v = 0; v < bare.count; ++v) {
            ops.reads.push_back(v == 0 || random.below(50) == 0 ? 1 : 0);
            ops.hides.push_back(random.below(5) == 0 ? 1 : 0);
            evidence.push_back(
                {base.evidence[v], no_id, random.below(4) == 0 ? 0.8F : 0.95F, {}, false});
        }
        for (id e = 0; e < bare.producer.size(); ++e) {
            ops.condition.push_back(random.below(10) == 0 ? 1 : 0);
        }
    }

    [[nodiscard]] stemma::propagation_problem<aware_operators> problem() const {
        return {ops, base.tree, order, base.evidence};
    }

    scene base;
    bare_graph bare;
    aware_operators ops;
    stemma::sweep_order<stemma::operator_graph> order{base.ops.edges};
    std::vector<stemma::attribution> evidence;
};

void common_reader_modules(benchmark::State& state) {
    const aware_scene scene(state);
    const auto problem = scene.problem();
    const auto& graph = scene.bare;
    measure_beside(
        state, [&] { return stemma::common_reader_modules(problem); },
        [&] {
            auto modules = scene.base.evidence;
            const auto* all = graph.reader.data();
            for (auto v = graph.count; v-- > 0;) {
                if (modules[v] == no_id) {
                    modules[v] = common_module(modules, all + graph.out[v], all + graph.out[v + 1],
                                               scene.base.tree);
                }
            }
            return modules;
        });
}

void common_producer_modules(benchmark::State& state) {
    const aware_scene scene(state);
    const auto problem = scene.problem();
    const auto& graph = scene.bare;
    measure_beside(
        state, [&] { return stemma::common_producer_modules(problem); },
        [&] {
            auto modules = scene.base.evidence;
            const auto* all = graph.producer.data();
            for (id v = 0; v < graph.count; ++v) {
                if (modules[v] == no_id) {
                    modules[v] = common_module(modules, all + graph.in[v], all + graph.in[v + 1],
                                               scene.base.tree);
                }
            }
            return modules;
        });
}

void data_independent(benchmark::State& state) {
    const aware_scene scene(state);
    const auto& graph = scene.bare;
    measure_beside(
        state, [&] { return stemma::data_independent(scene.ops, scene.order); },
        [&] {
            std::vector<bool> independent(graph.count, false);
            for (id v = 0; v < graph.count; ++v) {
                bool constant = scene.ops.hides[v] != 0 || scene.ops.reads[v] == 0;
                if (scene.ops.hides[v] == 0) {
                    for (auto at = graph.in[v]; at < graph.in[v + 1] && constant; ++at) {
                        constant = independent[graph.producer[at]];
                    }
                }
                if (constant) {
                    independent[v] = true;
                }
            }
            return independent;
        });
}

void settled_by_readers(benchmark::State& state) {
    const aware_scene scene(state);
    const auto problem = scene.problem();
    const auto down = stemma::common_reader_modules(problem);
    const auto& graph = scene.bare;
    measure_beside(
        state, [&] { return stemma::detail::settled_by_readers(problem, down, scene.evidence); },
        [&] {
            std::vector<bool> settled(graph.count, false);
            for (id v = 0; v < graph.count; ++v) {
                if (scene.ops.hides[v] != 0 || scene.ops.reads[v] != 0) {
                    continue;
                }
                bool constant = true;
                for (auto at = graph.in[v]; at < graph.in[v + 1] && constant; ++at) {
                    constant = settled[graph.producer[at]];
                }
                if (constant) {
                    settled[v] = true;
                }
            }
            for (auto v = graph.count; v-- > 0;) {
                if (!settled[v]) {
                    continue;
                }
                bool all = scene.base.evidence[v] == no_id && down[v] != no_id;
                for (auto at = graph.out[v]; at < graph.out[v + 1] && all; ++at) {
                    const auto reader = graph.reader[at];
                    all = scene.base.evidence[reader] != no_id
                              ? scene.evidence[reader].module == down[v] &&
                                    scene.evidence[reader].confidence >= 0.9F
                              : settled[reader] && down[reader] == down[v];
                }
                settled[v] = all;
            }
            return settled;
        });
}

void steering_only(benchmark::State& state) {
    const aware_scene scene(state);
    const auto problem = scene.problem();
    const auto& graph = scene.bare;
    measure_beside(
        state, [&] { return stemma::detail::steering_only(problem); },
        [&] {
            std::vector<bool> steers(graph.count, false);
            for (auto v = graph.count; v-- > 0;) {
                bool only = scene.base.evidence[v] == no_id && graph.out[v] < graph.out[v + 1];
                for (auto at = graph.out[v]; at < graph.out[v + 1] && only; ++at) {
                    only = scene.ops.condition[graph.edge[at]] != 0 || steers[graph.reader[at]];
                }
                if (only) {
                    steers[v] = true;
                }
            }
            return steers;
        });
}

void nearest_modules(benchmark::State& state) {
    const aware_scene scene(state);
    const auto problem = scene.problem();
    const auto& graph = scene.bare;
    measure_beside(
        state, [&] { return stemma::nearest_modules(problem); },
        [&] {
            auto near = scene.base.evidence;
            std::vector<id> front;
            std::vector<id> next;
            for (id v = 0; v < graph.count; ++v) {
                if (near[v] != no_id) {
                    front.push_back(v);
                }
            }
            if (front.empty()) {
                return near;
            }
            std::vector<std::pair<id, id>> reached(graph.count, {no_id, 0});
            const auto reach = [&](id v, id module) {
                if (near[v] == no_id) {
                    auto& [low, behind] = reached[v];
                    if (low == no_id) {
                        next.push_back(v);
                    }
                    low = std::min(low, module);
                    behind = std::max(behind, module + 1);
                }
            };
            while (!front.empty()) {
                next.clear();
                for (auto v : front) {
                    for (auto at = graph.in[v]; at < graph.in[v + 1]; ++at) {
                        reach(graph.producer[at], near[v]);
                    }
                    for (auto at = graph.out[v]; at < graph.out[v + 1]; ++at) {
                        reach(graph.reader[at], near[v]);
                    }
                }
                for (auto v : next) {
                    near[v] = scene.base.tree.lca(reached[v].first, reached[v].second - 1);
                }
                front.swap(next);
            }
            return near;
        });
}

/// One side of a skip connection: the common ancestor of the evidence on the paths from an operator
/// back to another, among the operators considered; `no_id` if there is no path.
class way_back {
public:
    explicit way_back(const aware_scene& scene) : scene_(scene), mark_(scene.bare.count, 0) {}

    id operator()(id from, id goal) {
        const auto& graph = scene_.bare;
        ++stamp_;
        id low = no_id;
        id behind = 0;
        bool reached = false;
        seen_.assign(1, from);
        mark_[from] = stamp_;
        for (std::size_t i = 0; i < seen_.size() && i < 64; ++i) {
            const auto v = seen_[i];
            low = std::min(low, scene_.base.evidence[v]);
            behind = std::max(behind, scene_.base.evidence[v] + 1);
            for (auto at = graph.in[v]; at < graph.in[v + 1]; ++at) {
                const auto u = graph.producer[at];
                if (u == goal) {
                    reached = true;
                } else if (mark_[u] != stamp_) {
                    mark_[u] = stamp_;
                    seen_.push_back(u);
                }
            }
        }
        return reached && low != no_id ? scene_.base.tree.lca(low, behind - 1) : no_id;
    }

private:
    const aware_scene& scene_;
    std::vector<std::size_t> mark_;
    std::vector<id> seen_;
    std::size_t stamp_ = 0;
};

void residual_modules(benchmark::State& state) {
    const aware_scene scene(state);
    const auto problem = scene.problem();
    const auto& graph = scene.bare;
    measure_beside(
        state, [&] { return stemma::residual_modules(problem); },
        [&] {
            std::vector<id> joined(graph.count, no_id);
            way_back skipped(scene);
            for (id v = 0; v < graph.count; ++v) {
                if (scene.base.evidence[v] != no_id || graph.in[v + 1] - graph.in[v] != 2) {
                    continue;
                }
                const auto a = graph.producer[graph.in[v]];
                const auto b = graph.producer[graph.in[v] + 1];
                if (a == b) {
                    continue;
                }
                const auto first = skipped(a, b);
                const auto second = skipped(b, a);
                joined[v] = second != no_id ? second : first;
            }
            return joined;
        });
}

void scenes(benchmark::internal::Benchmark* bench) {
    for (const int percent : {0, 10, 50, 90, 100}) {
        bench->Args({percent, 2, 1'000'000});
    }
    bench->Args({50, 8, 1'000'000});
    for (const int size : {1'000, 10'000, 100'000}) {
        bench->Args({50, 2, size});
    }
    stemma_bench::in_turns(bench);
}

BENCHMARK(common_reader_modules)->Apply(scenes)->Args({50, 2, 10'000'000});
BENCHMARK(common_producer_modules)->Apply(scenes);
BENCHMARK(data_independent)->Apply(scenes);
BENCHMARK(settled_by_readers)->Apply(scenes);
BENCHMARK(steering_only)->Apply(scenes);
BENCHMARK(nearest_modules)->Apply(scenes);
BENCHMARK(residual_modules)->Apply(scenes);

} // namespace

BENCHMARK_MAIN();
