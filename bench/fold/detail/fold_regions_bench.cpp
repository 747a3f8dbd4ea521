// SPDX-License-Identifier: Apache-2.0
// The cost of dividing a graph into nested regions, compared with hand-written loops on plain
// arrays. Both leave cycles between parts to `acyclic_parts`.
#include "../../bare_graph.hpp"
#include "../../beside.hpp"
#include "../../propagation_scene.hpp"

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/fold/detail/acyclic_parts.hpp>
#include <stemma/fold/detail/fold_regions.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;
using stemma::detail::fold_regions_result;
using stemma_bench::bare_graph;

/// Comparable regions.
struct division {
    fold_regions_result made;

    friend bool operator==(const division& a, const division& b) {
        const auto same_region = [](const stemma::detail::fold_region& x,
                                    const stemma::detail::fold_region& y) {
            return x.module == y.module && x.call == y.call && x.run == y.run && x.runs == y.runs &&
                   x.parent == y.parent && x.end == y.end && x.operators == y.operators &&
                   x.items == y.items;
        };
        const auto same_rest = [](const stemma::detail::fold_leftover& x,
                                  const stemma::detail::fold_leftover& y) {
            return x.module == y.module && x.call == y.call && x.operators == y.operators &&
                   x.runs == y.runs;
        };
        return std::equal(a.made.regions.begin(), a.made.regions.end(), b.made.regions.begin(),
                          b.made.regions.end(), same_region) &&
               std::equal(a.made.left.begin(), a.made.left.end(), b.made.left.begin(),
                          b.made.left.end(), same_rest);
    }
};

/// Operators in nested modules, some moved to a module nearby, so that there are cycles between
/// modules to break. Each module is called twice; the call is unknown for some operators.
struct nested_scene {
    explicit nested_scene(const benchmark::State& state)
        : base(stemma_bench::make_scene(static_cast<id>(state.range(1)), 100, false, 2))
        , bare(base.ops.edges)
        , order(bare.count) {
        stemma_bench::random_numbers random;
        std::iota(order.begin(), order.end(), id{0});
        for (id v = 0; v < bare.count; ++v) {
            auto& module = base.evidence[v];
            if (random.below(1000) < static_cast<id>(state.range(0))) {
                module = module - 1 - (module - 1) % 16 + 1 + random.below(15);
            }
            call.push_back(random.below(5) == 0 ? no_id : v % 80 >= 40 ? 1 : 0);
            constant.push_back(random.below(10) == 0 ? 1 : 0);
        }
    }

    stemma_bench::scene base;
    bare_graph bare;
    std::vector<id> order;
    std::vector<id> call;               ///< by operator
    std::vector<std::uint8_t> constant; ///< by operator
    stemma::detail::folded_modules folded{base.tree, [](id) { return true; }};
};

constexpr std::size_t least = 3;

/// Divides a region, then its children.
class divider {
public:
    explicit divider(const nested_scene& scene) : scene_(scene), place_(scene.bare.count, no_id) {
        result_.regions.emplace_back();
        divide(0, scene.order);
    }

    [[nodiscard]] fold_regions_result take() && { return std::move(result_); }

private:
    struct group {
        id module = 0;
        id call = 0;
        id parts = 0;
        id runs = 0;
    };

    void divide(id region, const std::vector<id>& all) {
        result_.regions[region].operators = static_cast<id>(all.size());
        const auto top = result_.regions[region].module;
        std::vector<id> module(all.size());
        bool deeper = false;
        for (std::size_t i = 0; i < all.size(); ++i) {
            module[i] = scene_.folded.next_below(top, scene_.base.evidence[all[i]]);
            deeper = deeper || module[i] != no_id;
        }
        if (deeper) {
            divide_groups(region, all, module);
        } else {
            auto& items = result_.regions[region].items;
            items.reserve(all.size());
            for (auto v : all) {
                items.push_back({v, false});
            }
        }
        result_.regions[region].end = static_cast<id>(result_.regions.size());
    }

    void divide_groups(id region, const std::vector<id>& all, const std::vector<id>& module) {
        const auto edges = edges_between(all);
        std::vector<group> groups;
        const auto of = group_by_call(all, edges, module, groups);
        const auto part = stemma::detail::acyclic_parts(edges, of);
        id parts = 0;
        for (auto p : part) {
            parts = p == no_id ? parts : std::max(parts, p + 1);
        }
        const stemma::detail::grouped_ids places(parts, [&](auto take) {
            for (id i = 0; i < part.size(); ++i) {
                if (part[i] != no_id) {
                    take(part[i], i);
                }
            }
        });
        for (id p = 0; p < parts; ++p) {
            ++groups[of[places[p].front()]].parts;
        }
        std::vector<id> members;
        for (auto first : sequence(edges, part, places)) {
            if (part[first] == no_id) {
                result_.regions[region].items.push_back({all[first], false});
                continue;
            }
            const auto inside = places[part[first]];
            auto& g = groups[of[first]];
            if (inside.size() < least) {
                for (auto i : inside) {
                    result_.regions[region].items.push_back({all[i], false});
                }
                result_.left.push_back({g.module, g.call, inside.size(), g.parts});
                continue;
            }
            const auto child = static_cast<id>(result_.regions.size());
            result_.regions[region].items.push_back({child, true});
            result_.regions.push_back({g.module, g.call, g.runs++, g.parts, region, 0, 0, {}});
            members.clear();
            for (auto i : inside) {
                members.push_back(all[i]);
            }
            divide(child, members);
        }
    }

    stemma::detail::induced_edges edges_between(const std::vector<id>& all) {
        const auto& graph = scene_.bare;
        for (id i = 0; i < all.size(); ++i) {
            place_[all[i]] = i;
        }
        stemma::detail::induced_edges edges;
        edges.first.reserve(all.size() + 1);
        edges.readers.reserve(all.size() * 2);
        for (auto v : all) {
            edges.first.push_back(static_cast<id>(edges.readers.size()));
            for (auto at = graph.out[v]; at < graph.out[v + 1]; ++at) {
                if (const auto to = place_[graph.reader[at]]; to != no_id) {
                    edges.readers.push_back(to);
                }
            }
        }
        edges.first.push_back(static_cast<id>(edges.readers.size()));
        for (auto v : all) {
            place_[v] = no_id;
        }
        return edges;
    }

    /// Returns: the group of each place; what several groups read and no data determines has none.
    [[nodiscard]] std::vector<id> group_by_call(const std::vector<id>& all,
                                                const stemma::detail::induced_edges& edges,
                                                const std::vector<id>& module,
                                                std::vector<group>& groups) const {
        const auto size = static_cast<id>(all.size());
        const auto& first = edges.first;
        const auto& readers = edges.readers;
        std::vector<id> call(size, no_id);
        for (id i = 0; i < size; ++i) {
            call[i] = module[i] == no_id ? no_id : scene_.call[all[i]];
        }
        for (id i = 0; i < size; ++i) {
            for (auto at = first[i]; at < first[i + 1] && module[i] != no_id; ++at) {
                const auto to = readers[at];
                call[to] = call[to] == no_id && module[to] == module[i] ? call[i] : call[to];
            }
        }
        for (auto i = size; i-- > 0;) {
            for (auto at = first[i]; at < first[i + 1] && call[i] == no_id; ++at) {
                const auto from = readers[at];
                call[i] = module[i] != no_id && module[from] == module[i] ? call[from] : no_id;
            }
            call[i] = call[i] == no_id ? 0 : call[i];
        }
        std::vector<id> of(size, no_id);
        stemma::detail::flat_index index;
        for (id i = 0; i < size; ++i) {
            if (module[i] != no_id) {
                const auto next = static_cast<id>(groups.size());
                of[i] = index.insert(stemma::detail::hash_mix(module[i], call[i]), next, [&](id g) {
                    return groups[g].module == module[i] && groups[g].call == call[i];
                });
                if (of[i] == next) {
                    groups.push_back({module[i], call[i], 0, 0});
                }
            }
        }
        for (auto i = size; i-- > 0;) {
            bool shared = false;
            if (of[i] != no_id && scene_.constant[all[i]] != 0) {
                for (auto at = first[i]; at < first[i + 1] && !shared; ++at) {
                    shared = of[readers[at]] != of[i];
                }
            }
            of[i] = shared ? no_id : of[i];
        }
        return of;
    }

    /// Returns: places in no part, and the first of each part, in a valid run order.
    [[nodiscard]] static std::vector<id> sequence(const stemma::detail::induced_edges& edges,
                                                  const std::vector<id>& part,
                                                  const stemma::detail::grouped_ids& places) {
        const auto size = static_cast<id>(part.size());
        std::vector<id> lead(size);
        for (id i = 0; i < size; ++i) {
            lead[i] = part[i] == no_id ? i : places[part[i]].front();
        }
        std::vector<id> waiting(size, 0);
        for (id i = 0; i < size; ++i) {
            for (auto at = edges.first[i]; at < edges.first[i + 1]; ++at) {
                const auto to = lead[edges.readers[at]];
                waiting[to] += to == lead[i] ? 0U : 1U;
            }
        }
        std::priority_queue<id, std::vector<id>, std::greater<>> open;
        for (id i = 0; i < size; ++i) {
            if (lead[i] == i && waiting[i] == 0) {
                open.push(i);
            }
        }
        std::vector<id> result;
        result.reserve(size);
        while (!open.empty()) {
            const auto u = open.top();
            open.pop();
            result.push_back(u);
            const auto inside = part[u] == no_id ? std::span(&u, 1) : places[part[u]];
            for (auto i : inside) {
                for (auto at = edges.first[i]; at < edges.first[i + 1]; ++at) {
                    const auto to = lead[edges.readers[at]];
                    if (to != u && --waiting[to] == 0) {
                        open.push(to);
                    }
                }
            }
        }
        return result;
    }

    const nested_scene& scene_;
    std::vector<id> place_; // by operator: scratch
    fold_regions_result result_;
};

void fold_regions(benchmark::State& state) {
    const nested_scene scene(state);
    stemma_bench::measure_beside(
        state,
        [&] {
            return division{stemma::detail::fold_regions(
                scene.base.ops.edges, std::span<const id>(scene.order), scene.folded,
                std::span<const id>(scene.base.evidence), 0, least,
                [&](id, id v) { return scene.call[v]; },
                [&](id v) { return scene.constant[v] != 0; })};
        },
        [&] { return division{divider(scene).take()}; });
}

/// Operators per thousand that were moved to another module, operators.
void scenes(benchmark::internal::Benchmark* bench) {
    for (const int size : {1'000, 100'000}) {
        bench->Args({0, size})->Args({20, size});
    }
    bench->Args({20, 1'000'000});
    stemma_bench::in_turns(bench);
}

BENCHMARK(fold_regions)->Apply(scenes);

} // namespace

BENCHMARK_MAIN();
