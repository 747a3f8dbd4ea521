// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_RANDOM_DAGS_HPP
#define STEMMA_TESTS_RANDOM_DAGS_HPP

#include "random_graphs.hpp"
#include "random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace test {

/// An acyclic graph with vertices numbered after their producers, each of which produces one value
/// with its own number.
struct random_dag {
    edge_list edges;
    stemma::operator_graph graph;
    std::vector<stemma::id> order; ///< 0, 1, ...

    random_dag(random_numbers& random, std::size_t vertices, std::size_t edge_count) {
        edges.count = vertices;
        std::vector<stemma::operator_edge> list;
        for (std::size_t e = 0; vertices > 1 && e < edge_count; ++e) {
            const auto from = random(vertices - 1);
            const auto to = from + 1 + random(std::min<std::size_t>(vertices - from - 1, 6));
            edges.edges.emplace_back(from, to);
            list.push_back({static_cast<stemma::id>(from), static_cast<stemma::id>(to),
                            static_cast<stemma::id>(from)});
        }
        graph = {vertices, list};
        order.resize(vertices);
        std::iota(order.begin(), order.end(), stemma::id{0});
    }
};

/// Returns: one of `parts` numbers for each vertex, often the same for neighbours.
inline std::vector<stemma::id> random_parts(random_numbers& random, std::size_t vertices,
                                            std::size_t parts) {
    std::vector<stemma::id> part(vertices);
    stemma::id current = 0;
    for (auto& p : part) {
        if (random.one_in(3)) {
            current = static_cast<stemma::id>(random(parts));
        }
        p = current;
    }
    return part;
}

/// Whether, with `reaches` between vertices, some path leads out of a set and back.
inline bool leads_out_and_back(const std::vector<std::vector<char>>& reaches,
                               const std::vector<bool>& inside, const std::vector<bool>& apart) {
    for (std::size_t out = 0; out < inside.size(); ++out) {
        if (inside[out] || apart[out]) {
            continue;
        }
        bool from = false;
        bool to = false;
        for (std::size_t v = 0; v < inside.size(); ++v) {
            from = from || (inside[v] && !apart[v] && reaches[v][out]);
            to = to || (inside[v] && !apart[v] && reaches[out][v]);
        }
        if (from && to) {
            return true;
        }
    }
    return false;
}

/// Returns: `reachability` by paths that avoid some vertices.
inline std::vector<std::vector<char>> reachability_around(const edge_list& list,
                                                          const std::vector<bool>& apart) {
    edge_list rest{list.count, {}};
    for (auto [from, to] : list.edges) {
        if (!apart[from] && !apart[to]) {
            rest.edges.emplace_back(from, to);
        }
    }
    return reachability(rest);
}

} // namespace test

#endif // STEMMA_TESTS_RANDOM_DAGS_HPP
