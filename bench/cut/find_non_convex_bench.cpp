// SPDX-License-Identifier: Apache-2.0
// The cost of finding non-convex modules, compared with a hand-written loop on plain arrays of
// operators in exporter order.
#include "../bare_graph.hpp"
#include "../beside.hpp"
#include "../propagation_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/cut/find_non_convex.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/module_members.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;

/// The scene of a benchmark's arguments: operators per 1000 that belong to an earlier module,
/// percent of scattered operators, operators.
struct tagged_scene {
    explicit tagged_scene(const benchmark::State& state)
        : base(stemma_bench::make_scene(static_cast<id>(state.range(2)), 100, false, 2))
        , bare(base.ops.edges)
        , apart(bare.count) {
        stemma_bench::random_numbers random;
        for (id v = 0; v < bare.count; ++v) {
            const bool moved = random.below(1000) < static_cast<id>(state.range(0));
            const auto from = moved ? std::min(v + random.below(20), bare.count - 1) : v;
            found.push_back({base.evidence[from], no_id, 1.0F, {}, false});
            apart[v] = random.below(100) < static_cast<id>(state.range(1));
        }
    }

    stemma_bench::scene base;
    stemma_bench::bare_graph bare;
    std::vector<stemma::attribution> found;
    std::vector<bool> apart;
};

/// The hand-written loop.
class by_hand {
public:
    explicit by_hand(const tagged_scene& scene)
        : graph_(scene.bare)
        , modules_(scene.base.tree)
        , attributions_(scene.found)
        , apart_(scene.apart)
        , inside_(graph_.count)
        , first_(modules_.size(), no_id)
        , end_(modules_.size())
        , members_(modules_.size()) {}

    std::vector<stemma::non_convex_module> operator()() && {
        std::vector<id> counted(graph_.count + 1);
        id here = 0;
        for (id v = 0; v < graph_.count; ++v) {
            if (!apart_[v]) {
                const auto m = attributions_[v].module;
                first_[m] = std::min(first_[m], v);
                end_[m] = v + 1;
                ++members_[m];
                ++here;
            }
            counted[v + 1] = here;
        }
        for (auto m = static_cast<id>(modules_.size()); m-- > 1;) {
            const auto above = modules_.parent(m);
            first_[above] = std::min(first_[above], first_[m]);
            end_[above] = std::max(end_[above], end_[m]);
            members_[above] += members_[m];
        }
        std::vector<id> scattered;
        for (id m = 1; m < modules_.size(); ++m) {
            if (members_[m] > 1 && counted[end_[m]] - counted[first_[m]] != members_[m]) {
                scattered.push_back(m);
            }
        }
        std::vector<stemma::non_convex_module> result;
        if (scattered.empty()) {
            return result;
        }
        led_by_.resize(graph_.count);
        const stemma::detail::module_members all(modules_, attributions_);
        for (const auto m : scattered) {
            const auto above = modules_.parent(m);
            if (all.count(m) == all.count(above)) {
                if (!result.empty() && result.back().module == above) {
                    result.push_back({m, result.back().witness});
                }
                continue;
            }
            put(all, m, true);
            auto way = way_back(first_[m], end_[m]);
            put(all, m, false);
            if (!way.empty()) {
                result.push_back({m, std::move(way)});
            }
        }
        return result;
    }

private:
    void put(const stemma::detail::module_members& all, id m, bool inside) {
        for (auto below = m; below < modules_.end(m); ++below) {
            for (const auto v : all.direct(below)) {
                inside_[v] = inside;
            }
        }
    }

    std::vector<id> way_back(id first, id last) {
        auto back = last;
        for (auto v = first; v < back; ++v) {
            if (apart_[v]) {
                led_by_[v] = no_id;
                continue;
            }
            if (inside_[v]) {
                led_by_[v] = v;
                continue;
            }
            id led = no_id;
            for (auto at = graph_.in[v]; at < graph_.in[v + 1]; ++at) {
                const auto u = graph_.producer[at];
                if (u >= first && led_by_[u] != no_id) {
                    led = u;
                    break;
                }
            }
            led_by_[v] = led;
            if (led == no_id) {
                continue;
            }
            for (auto at = graph_.out[v]; at < graph_.out[v + 1]; ++at) {
                const auto u = graph_.reader[at];
                if (inside_[u] && !apart_[u]) {
                    back = std::min(back, u);
                }
            }
        }
        std::vector<id> way;
        for (auto at = graph_.in[back]; back < last && way.empty(); ++at) {
            auto u = graph_.producer[at];
            if (u < first || led_by_[u] == no_id || led_by_[u] == u) {
                continue;
            }
            way.push_back(back);
            for (; led_by_[u] != u; u = led_by_[u]) {
                way.push_back(u);
            }
            way.push_back(u);
        }
        std::reverse(way.begin(), way.end());
        return way;
    }

    const stemma_bench::bare_graph& graph_;
    const stemma::tree_index& modules_;
    const std::vector<stemma::attribution>& attributions_;
    const std::vector<bool>& apart_;
    std::vector<bool> inside_;
    std::vector<id> first_;
    std::vector<id> end_;
    std::vector<id> members_;
    std::vector<id> led_by_; // a member leads itself
};

/// Comparable modules.
struct comparable {
    std::vector<stemma::non_convex_module> found;

    friend bool operator==(const comparable& a, const comparable& b) {
        return std::equal(a.found.begin(), a.found.end(), b.found.begin(), b.found.end(),
                          [](const auto& x, const auto& y) {
                              return x.module == y.module && x.witness == y.witness;
                          });
    }
};

void find_non_convex_modules(benchmark::State& state) {
    const tagged_scene scene(state);
    stemma_bench::measure_beside(
        state,
        [&] {
            return comparable{stemma::find_non_convex_modules(
                scene.base.ops.edges, scene.base.tree,
                std::span<const stemma::attribution>(scene.found), scene.apart)};
        },
        [&] { return comparable{by_hand(scene)()}; });
}

void scenes(benchmark::internal::Benchmark* bench) {
    for (const int moved : {0, 10, 200}) {
        for (const int size : {1'000, 100'000, 1'000'000}) {
            bench->Args({moved, 3, size});
        }
    }
    stemma_bench::in_turns(bench);
}

BENCHMARK(find_non_convex_modules)->Apply(scenes);

} // namespace

BENCHMARK_MAIN();
