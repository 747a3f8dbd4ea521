// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_BENCH_VERTEX_SET_SCENE_HPP
#define STEMMA_BENCH_VERTEX_SET_SCENE_HPP

#include "bare_graph.hpp"
#include "beside.hpp"
#include "propagation_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/cut/detail/vertex_set.hpp>
#include <stemma/model/operator_graph.hpp>

#include <benchmark/benchmark.h>

#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace stemma_bench {

/// Placement of the members of a set.
enum class members_are : id {
    a_branch,  ///< every second operator; the others read only each other: convex
    scattered, ///< a third of the modules, each five consecutive operators: not convex
};

/// A set of operators in exporter order. Arguments of the benchmark: placement, percent of
/// scattered operators, operators.
struct vertex_set_scene {
    explicit vertex_set_scene(const benchmark::State& state)
        : graph(
              make_graph(static_cast<members_are>(state.range(0)), static_cast<id>(state.range(2))))
        , set(graph.vertex_count())
        , order(graph.vertex_count()) {
        random_numbers random;
        std::iota(order.begin(), order.end(), id{0});
        bool inside = false;
        for (const auto v : order) {
            if (static_cast<members_are>(state.range(0)) == members_are::a_branch) {
                inside = v % 2 == 0;
            } else if (v % 5 == 0) {
                inside = random.below(3) == 0;
            }
            set.inside[v] = inside;
            set.apart[v] = random.below(100) < static_cast<id>(state.range(1));
            if (inside) {
                members.push_back(v);
            }
        }
    }

    [[nodiscard]] stemma::detail::order_stretch<stemma::operator_graph> stretch() const {
        return {graph, order, order, members};
    }

    /// The vertices from the first member to the last.
    [[nodiscard]] std::pair<id, id> range() const { return {members.front(), members.back() + 1}; }

    stemma::operator_graph graph;
    bare_graph bare{graph};
    stemma::detail::vertex_set set;
    std::vector<id> order; ///< also the position of each vertex
    std::vector<id> members;

private:
    static stemma::operator_graph make_graph(members_are kind, id count) {
        if (kind == members_are::scattered) {
            return make_scene(count, 0, false, 2).ops.edges;
        }
        random_numbers random;
        std::vector<stemma::operator_edge> edges;
        for (id v = 2; v < count; ++v) {
            for (id slot = 0; slot < 2; ++slot) {
                auto u = v - 1 - random.below(std::min<id>(v - 1, 40));
                if (v % 2 == 1 || random.below(10) > 0) {
                    u = u % 2 == v % 2 ? u : u - 1;
                }
                edges.push_back({u, v, u, slot, 0});
            }
        }
        return {count, edges};
    }
};

/// Adds the scenes with convex sets.
inline void convex_sets(benchmark::internal::Benchmark* bench) {
    for (const int size : {1'000, 100'000, 1'000'000}) {
        bench->Args({static_cast<id>(members_are::a_branch), 3, size});
    }
    in_turns(bench);
}

/// Adds the scenes with sets of all kinds.
inline void vertex_sets(benchmark::internal::Benchmark* bench) {
    for (const int size : {1'000, 100'000, 1'000'000}) {
        bench->Args({static_cast<id>(members_are::scattered), 3, size});
    }
    convex_sets(bench);
}

} // namespace stemma_bench

#endif // STEMMA_BENCH_VERTEX_SET_SCENE_HPP
