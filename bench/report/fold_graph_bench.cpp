// SPDX-License-Identifier: Apache-2.0
// The cost of folding a graph into a picture, compared with hand-written loops on plain arrays. The
// picture fits on a page, or shows every operator.
#include "../bare_graph.hpp"
#include "../beside.hpp"
#include "../propagation_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/report/fold_graph.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using stemma::folded_graph;
using stemma::id;
using stemma::no_id;
using stemma_bench::bare_graph;

/// A comparable picture.
struct picture {
    folded_graph made;

    friend bool operator==(const picture& a, const picture& b) {
        const auto same_box = [](const stemma::folded_graph::box& x,
                                 const stemma::folded_graph::box& y) {
            return x.kind == y.kind && x.of == y.of && x.around == y.around &&
                   x.operators == y.operators;
        };
        const auto same_edge = [](const stemma::folded_graph::edge& x,
                                  const stemma::folded_graph::edge& y) {
            return x.from == y.from && x.to == y.to && x.value == y.value && x.values == y.values;
        };
        return a.made.open == b.made.open && a.made.box_of == b.made.box_of &&
               std::equal(a.made.boxes.begin(), a.made.boxes.end(), b.made.boxes.begin(),
                          b.made.boxes.end(), same_box) &&
               std::equal(a.made.edges.begin(), a.made.edges.end(), b.made.edges.begin(),
                          b.made.edges.end(), same_edge);
    }
};

/// The operators of a scene, each in a module; one in ten is hidden.
struct shown_scene {
    explicit shown_scene(const benchmark::State& state)
        : base(stemma_bench::make_scene(static_cast<id>(state.range(1)), 100, false,
                                        static_cast<id>(state.range(2))))
        , bare(base.ops.edges) {
        stemma_bench::random_numbers random;
        for (id v = 0; v < bare.count; ++v) {
            shown.push_back(random.below(10) != 0);
        }
        options.max_boxes = state.range(0) != 0 ? static_cast<std::size_t>(state.range(0))
                                                : std::size_t{bare.count} * 2;
    }

    stemma_bench::scene base;
    bare_graph bare;
    std::vector<bool> shown; ///< by operator
    stemma::collapse_options options;
};

/// The number of operators by module, and of children that have some.
struct module_sizes {
    explicit module_sizes(const shown_scene& scene)
        : direct(scene.base.tree.size(), 0), children(scene.base.tree.size(), 0) {
        for (id v = 0; v < scene.bare.count; ++v) {
            direct[scene.base.evidence[v]] += scene.shown[v] ? 1U : 0U;
        }
        all = direct;
        for (auto m = static_cast<id>(all.size()); m-- > 1;) {
            const auto above = scene.base.tree.parent(m);
            all[above] += all[m];
            children[above] += all[m] > 0 ? 1U : 0U;
        }
    }

    std::vector<id> direct;
    std::vector<id> children;
    std::vector<id> all;
};

/// Opens modules level by level while everything fits.
std::vector<bool> open_levels(const shown_scene& scene, const module_sizes& sizes) {
    const auto& tree = scene.base.tree;
    std::vector<bool> open(tree.size(), false);
    std::vector<id> level{scene.options.root};
    std::vector<id> below;
    auto boxes = std::size_t{1};
    for (id depth = 0; !level.empty(); ++depth) {
        below.clear();
        for (auto m : level) {
            boxes += sizes.direct[m] + sizes.children[m] - std::size_t{1};
            for (auto c = m + 1; c < tree.end(m); c = tree.end(c)) {
                if (sizes.all[c] > 0) {
                    below.push_back(c);
                }
            }
        }
        if (depth > 0 && (boxes > scene.options.max_boxes || depth > scene.options.depth)) {
            break;
        }
        for (auto m : level) {
            open[m] = true;
        }
        level.swap(below);
    }
    return open;
}

folded_graph fold_by_hand(const shown_scene& scene) {
    const auto& tree = scene.base.tree;
    const auto& graph = scene.bare;
    const auto& module = scene.base.evidence;
    const auto root = scene.options.root;
    const module_sizes sizes(scene);
    folded_graph result;
    result.open = open_levels(scene, sizes);
    // By module: the box of its operators, open or the outermost closed one.
    std::vector<id> place(tree.size(), no_id);
    std::size_t total = 0;
    for (id m = root; m < tree.end(root); ++m) {
        if (result.open[m]) {
            place[m] = m;
            total += sizes.direct[m];
        } else if (const auto around = place[tree.parent(m)]; result.open[around]) {
            place[m] = m;
            total += sizes.all[m] > 0 ? 1U : 0U;
        } else {
            place[m] = around;
        }
    }
    const auto most = std::max<std::size_t>(scene.options.max_boxes, 2);
    const auto whole = total <= most;
    result.boxes.reserve(std::min(total, most));
    result.box_of.assign(graph.count, no_id);
    std::vector<id> box_of_module(tree.size(), no_id);
    id rest = no_id;
    for (id v = 0; v < graph.count; ++v) {
        if (!scene.shown[v] || place[module[v]] == no_id) {
            continue;
        }
        const auto in = place[module[v]];
        const bool direct = result.open[in];
        auto box = direct ? no_id : box_of_module[in];
        if (box == no_id) {
            const auto next = static_cast<id>(result.boxes.size());
            if (whole || next + 1 < most) {
                box = next;
                if (direct) {
                    result.boxes.push_back({folded_graph::box_kind::one_operator, v, in, 0});
                } else {
                    result.boxes.push_back(
                        {folded_graph::box_kind::closed_module, in, tree.parent(in), 0});
                }
            } else {
                if (rest == no_id) {
                    rest = next;
                    result.boxes.push_back({folded_graph::box_kind::rest, root, root, 0});
                }
                box = rest;
            }
            if (!direct) {
                box_of_module[in] = box;
            }
        }
        result.box_of[v] = box;
        ++result.boxes[box].operators;
    }
    // The values that leave each box, by counting sort: reading box and value as one number.
    std::vector<id> end(result.boxes.size() + 1, 0);
    const auto for_each_flow = [&](auto take) {
        for (id v = 0; v < graph.count; ++v) {
            const auto to = result.box_of[v];
            for (auto in = graph.in[v]; to != no_id && in < graph.in[v + 1]; ++in) {
                const auto from = result.box_of[graph.producer[in]];
                if (from != no_id && from != to) {
                    take(from, std::uint64_t{to} << 32U | graph.value[in]);
                }
            }
        }
    };
    for_each_flow([&](id from, std::uint64_t) { ++end[from + 1]; });
    std::partial_sum(end.begin(), end.end(), end.begin());
    std::vector<std::uint64_t> flows(end.back());
    for_each_flow([&](id from, std::uint64_t flow) { flows[end[from]++] = flow; });
    for (id from = 0, at = 0; from < result.boxes.size(); ++from) {
        const auto first = at;
        std::sort(flows.begin() + first, flows.begin() + end[from]);
        for (; at < end[from]; ++at) {
            const auto to = static_cast<id>(flows[at] >> 32U);
            if (at == first || to != flows[at - 1] >> 32U) {
                result.edges.push_back({from, to, static_cast<id>(flows[at]), 1});
            } else if (flows[at] != flows[at - 1]) {
                ++result.edges.back().values;
            }
        }
    }
    return result;
}

void fold_graph(benchmark::State& state) {
    const shown_scene scene(state);
    stemma_bench::measure_beside(
        state,
        [&] {
            return picture{stemma::fold_graph(scene.base.ops.edges, scene.base.tree,
                                              scene.base.evidence, scene.shown, scene.options)};
        },
        [&] { return picture{fold_by_hand(scene)}; });
}

/// Maximum of boxes, or 0 for no limit; operators; readers per operator.
void pictures(benchmark::internal::Benchmark* bench) {
    for (const int size : {1'000, 100'000, 1'000'000}) {
        bench->Args({60, size, 2});
        bench->Args({size / 20, size, 2});
        bench->Args({0, size, 2});
    }
    bench->Args({0, 1'000'000, 8});
    stemma_bench::in_turns(bench);
}

BENCHMARK(fold_graph)->Apply(pictures);

} // namespace

BENCHMARK_MAIN();
