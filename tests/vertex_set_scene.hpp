// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_VERTEX_SET_SCENE_HPP
#define STEMMA_TESTS_VERTEX_SET_SCENE_HPP

#include "random_dags.hpp"
#include "random_graphs.hpp"
#include "random_numbers.hpp"

#include <stemma/cut/detail/vertex_set.hpp>

#include <cstddef>
#include <vector>

namespace test {

/// A graph, and a set of its vertices.
struct vertex_set_scene {
    random_dag dag;
    stemma::detail::vertex_set set;
    std::vector<stemma::id> members;
    std::vector<stemma::id> rank;
    std::vector<std::vector<char>> reaches;

    vertex_set_scene(random_numbers& random, std::size_t vertices)
        : dag(random, vertices, vertices + random(2 * vertices)), set(vertices) {
        for (stemma::id v = 0; v < vertices; ++v) {
            set.apart[v] = random.one_in(6);
            set.inside[v] = random.one_in(2);
            if (set.inside[v]) {
                members.push_back(v);
            }
        }
        rank = dag.order;
        reaches = reachability_around(dag.edges, set.apart);
    }

    [[nodiscard]] stemma::detail::order_stretch<stemma::operator_graph> stretch() const {
        return {dag.graph, dag.order, rank, members};
    }
};

/// Calls `f` with sets of up to 14 vertices.
template <class Function>
void for_random_vertex_sets(Function f) {
    random_numbers random(7);
    for (int round = 0; round < 2000; ++round) {
        f(vertex_set_scene(random, 1 + random(14)));
    }
}

} // namespace test

#endif // STEMMA_TESTS_VERTEX_SET_SCENE_HPP
