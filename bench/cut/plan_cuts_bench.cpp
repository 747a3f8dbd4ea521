// SPDX-License-Identifier: Apache-2.0
// The cost of boundaries of sets and modules, compared with hand-written loops on plain arrays of
// operators in exporter order.
#include "../bare_graph.hpp"
#include "../beside.hpp"
#include "../propagation_scene.hpp"
#include "../vertex_set_scene.hpp"

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/cut/acyclic_partition.hpp>
#include <stemma/cut/detail/find_reentry.hpp>
#include <stemma/cut/module_boundaries.hpp>
#include <stemma/cut/plan_cuts.hpp>
#include <stemma/model/operator_graph.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;
using stemma::operator_graph;
using stemma::detail::grouped_ids;
using stemma_bench::bare_graph;
using stemma_bench::measure_beside;
using stemma_bench::vertex_set_scene;

using found_edges = std::vector<operator_graph::edge>;

void find_boundary(benchmark::State& state) {
    const vertex_set_scene scene(state);
    const auto& graph = scene.bare;
    const auto& set = scene.set;
    measure_beside(
        state,
        [&] {
            auto boundary =
                stemma::detail::find_boundary(scene.graph, set, std::span<const id>(scene.members));
            return std::pair(std::move(boundary.inputs), std::move(boundary.outputs));
        },
        [&] {
            std::pair<found_edges, found_edges> result;
            std::vector<bool> met(graph.count); // values have the numbers of their producers
            for (const auto v : scene.members) {
                if (set.apart[v]) {
                    continue;
                }
                for (auto at = graph.in[v]; at < graph.in[v + 1]; ++at) {
                    const auto u = graph.producer[at];
                    const auto value = graph.value[at];
                    if (!set.inside[u] && !set.apart[u] && !met[value]) {
                        met[value] = true;
                        result.first.push_back({u, v, at});
                    }
                }
            }
            met.assign(graph.count, false);
            for (const auto v : scene.members) {
                if (set.apart[v]) {
                    continue;
                }
                for (auto at = graph.out[v]; at < graph.out[v + 1]; ++at) {
                    const auto u = graph.reader[at];
                    const auto value = graph.value[graph.edge[at]];
                    if (!set.inside[u] && !set.apart[u] && !met[value]) {
                        met[value] = true;
                        result.second.push_back({v, u, graph.edge[at]});
                    }
                }
            }
            return result;
        });
}

void find_reentry(benchmark::State& state) {
    const vertex_set_scene scene(state);
    const auto& graph = scene.bare;
    const auto& set = scene.set;
    const auto stretch = scene.stretch();
    measure_beside(
        state, [&] { return stemma::detail::find_reentry(scene.graph, set, stretch); },
        [&] {
            const auto [first, last] = scene.range();
            std::vector<id> led_by(last - first); // a member leads itself
            auto back = last;
            for (auto v = first; v < back; ++v) {
                if (set.apart[v]) {
                    led_by[v - first] = no_id;
                    continue;
                }
                if (set.inside[v]) {
                    led_by[v - first] = v;
                    continue;
                }
                id led = no_id;
                for (auto at = graph.in[v]; at < graph.in[v + 1]; ++at) {
                    const auto u = graph.producer[at];
                    if (u >= first && led_by[u - first] != no_id) {
                        led = u;
                        break;
                    }
                }
                led_by[v - first] = led;
                if (led == no_id) {
                    continue;
                }
                for (auto at = graph.out[v]; at < graph.out[v + 1]; ++at) {
                    if (set.is_inside(graph.reader[at])) {
                        back = std::min(back, graph.reader[at]);
                    }
                }
            }
            std::vector<id> path;
            for (auto at = graph.in[back]; back < last && path.empty(); ++at) {
                auto u = graph.producer[at];
                if (u < first || led_by[u - first] == no_id || led_by[u - first] == u) {
                    continue;
                }
                path.push_back(back);
                for (; led_by[u - first] != u; u = led_by[u - first]) {
                    path.push_back(u);
                }
                path.push_back(u);
            }
            std::reverse(path.begin(), path.end());
            return path;
        });
}

void convex_runs(benchmark::State& state) {
    const vertex_set_scene scene(state);
    const auto& graph = scene.bare;
    const auto& set = scene.set;
    const auto stretch = scene.stretch();
    measure_beside(
        state, [&] { return stemma::detail::convex_runs(scene.graph, set, stretch); },
        [&] {
            const auto [first, last] = scene.range();
            std::vector<id> run(last - first, 0); // doubled for now, plus one inside
            for (auto v = first; v < last; ++v) {
                if (set.apart[v]) {
                    continue;
                }
                const id inside = set.inside[v] ? 1 : 0;
                id least = 0;
                for (auto at = graph.in[v]; at < graph.in[v + 1]; ++at) {
                    const auto u = graph.producer[at];
                    if (u >= first) {
                        least = std::max(least, (run[u - first] + 1 - inside) / 2);
                    }
                }
                run[v - first] = 2 * least + inside;
            }
            for (auto& r : run) {
                r = r % 2 == 0 ? no_id : r / 2;
            }
            return run;
        });
}

/// The scene of a benchmark's arguments: percent of scattered operators, operators.
struct module_scene {
    explicit module_scene(const benchmark::State& state)
        : base(stemma_bench::make_scene(static_cast<id>(state.range(1)), 100, false, 2))
        , bare(base.ops.edges)
        , apart(bare.count)
        , leaves(bare.count) {
        stemma_bench::random_numbers random;
        for (id v = 0; v < bare.count; ++v) {
            apart[v] = random.below(100) < static_cast<id>(state.range(0));
            leaves[v] = graph().vertex_count() - v < 10;
        }
    }

    [[nodiscard]] const operator_graph& graph() const { return base.ops.edges; }

    stemma_bench::scene base;
    bare_graph bare;
    std::vector<bool> apart;
    std::vector<bool> leaves;
};

/// The edges of a graph, to compare.
struct graph_of_parts {
    operator_graph graph;

    friend bool operator==(const graph_of_parts& a, const graph_of_parts& b) {
        const auto [first, last] = edges(a.graph);
        const auto [other, other_last] = edges(b.graph);
        return a.graph.vertex_count() == b.graph.vertex_count() &&
               std::equal(first, last, other, other_last);
    }
};

void quotient_graph(benchmark::State& state) {
    const module_scene scene(state);
    const auto& graph = scene.bare;
    auto part = scene.base.evidence;
    for (id v = 0; v < graph.count; ++v) {
        part[v] = scene.apart[v] ? no_id : part[v];
    }
    const auto count = scene.base.tree.size();
    measure_beside(
        state,
        [&] {
            return graph_of_parts{stemma::detail::quotient_graph(
                scene.graph(), std::span(std::as_const(part)), count)};
        },
        [&] {
            const grouped_ids producers(count, [&](auto take) {
                for (id v = 0; v < graph.count; ++v) {
                    const auto to = part[v];
                    if (to == no_id) {
                        continue;
                    }
                    for (auto at = graph.in[v]; at < graph.in[v + 1]; ++at) {
                        const auto from = part[graph.producer[at]];
                        if (from != to && from != no_id) {
                            take(to, from);
                        }
                    }
                }
            });
            std::vector<std::pair<id, id>> pairs;
            std::vector<id> last_reader(count, no_id);
            for (id to = 0; to < count; ++to) {
                const auto first = static_cast<std::ptrdiff_t>(pairs.size());
                for (const auto from : producers[to]) {
                    if (last_reader[from] != to) {
                        last_reader[from] = to;
                        pairs.emplace_back(to, from);
                    }
                }
                std::sort(pairs.begin() + first, pairs.end());
            }
            return graph_of_parts{operator_graph(count, [&](auto take) {
                for (const auto& [to, from] : pairs) {
                    take({from, to, no_id, no_id, no_id});
                }
            })};
        });
}

struct borders {
    grouped_ids inputs;
    grouped_ids outputs;

    friend bool operator==(const borders& a, const borders& b) {
        return same(a.inputs, b.inputs) && same(a.outputs, b.outputs);
    }

private:
    static bool same(const grouped_ids& a, const grouped_ids& b) {
        bool equal = a.size() == b.size();
        for (std::size_t m = 0; equal && m < a.size(); ++m) {
            equal = std::equal(a[m].begin(), a[m].end(), b[m].begin(), b[m].end());
        }
        return equal;
    }
};

void find_module_boundaries(benchmark::State& state) {
    const module_scene scene(state);
    const auto& graph = scene.bare;
    const auto& modules = scene.base.tree;
    const auto& module = scene.base.evidence;
    measure_beside(
        state,
        [&] {
            std::array<id, 1> own{};
            auto boundaries = stemma::find_module_boundaries(
                scene.graph(), modules, std::span<const id>(module), scene.apart, [&](id v) {
                    own[0] = v;
                    return std::span<const id>(own).first(scene.leaves[v] ? 1 : 0);
                });
            return borders{std::move(boundaries.inputs), std::move(boundaries.outputs)};
        },
        [&] {
            std::vector<std::pair<id, id>> in; // module, value
            std::vector<std::pair<id, id>> out;
            std::vector<id> last_in(modules.size(), no_id);
            std::vector<std::pair<id, id>> reads; // value, module
            for (id v = 0; v < graph.count; ++v) {
                if (scene.apart[v]) {
                    continue;
                }
                reads.clear();
                for (auto at = graph.out[v]; at < graph.out[v + 1]; ++at) {
                    if (!scene.apart[graph.reader[at]]) {
                        reads.emplace_back(graph.value[graph.edge[at]], module[graph.reader[at]]);
                    }
                }
                if (scene.leaves[v]) {
                    reads.emplace_back(v, no_id);
                }
                std::sort(reads.begin(), reads.end());
                for (std::size_t i = 0, end = 0; i < reads.size(); i = end) {
                    const auto value = reads[i].first;
                    auto highest = module[v];
                    bool leaves = false;
                    for (; end < reads.size() && reads[end].first == value; ++end) {
                        const auto reader = reads[end].second;
                        if (reader == no_id) {
                            leaves = true;
                            continue;
                        }
                        const auto meet = modules.lca(module[v], reader);
                        highest = std::min(highest, meet);
                        for (auto m = reader; m != meet && last_in[m] != value;
                             m = modules.parent(m)) {
                            last_in[m] = value;
                            in.emplace_back(m, value);
                        }
                    }
                    for (auto m = module[v]; m != no_id && (leaves || m != highest);
                         m = modules.parent(m)) {
                        out.emplace_back(m, value);
                    }
                }
            }
            const auto by_module = [&](const std::vector<std::pair<id, id>>& pairs) {
                return grouped_ids(modules.size(), [&](auto take) {
                    for (const auto& [m, value] : pairs) {
                        take(m, value);
                    }
                });
            };
            return borders{by_module(in), by_module(out)};
        });
}

void module_scenes(benchmark::internal::Benchmark* bench) {
    for (const int size : {1'000, 100'000, 1'000'000}) {
        bench->Args({3, size});
    }
    stemma_bench::in_turns(bench);
}

BENCHMARK(find_boundary)->Apply(stemma_bench::vertex_sets);
BENCHMARK(find_reentry)->Apply(stemma_bench::convex_sets);
BENCHMARK(convex_runs)->Apply(stemma_bench::vertex_sets);
BENCHMARK(quotient_graph)->Apply(module_scenes);
BENCHMARK(find_module_boundaries)->Apply(module_scenes);

} // namespace

BENCHMARK_MAIN();
