// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_RANDOM_GRAPHS_HPP
#define STEMMA_TESTS_RANDOM_GRAPHS_HPP

#include "random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace test {

/// A graph in the simplest form.
struct edge_list {
    std::size_t count = 0;
    std::vector<std::pair<std::size_t, std::size_t>> edges{};
};

using vector_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
using list_graph = boost::adjacency_list<boost::vecS, boost::listS, boost::bidirectionalS,
                                         boost::property<boost::vertex_index_t, std::size_t>>;

/// Returns: any graph, including loops, parallel edges, cycles and isolated vertices. Every third
/// is acyclic.
inline edge_list random_edges(random_numbers& random, std::size_t vertices, std::size_t edges) {
    edge_list list{vertices, {}};
    const bool acyclic = random.one_in(3) && vertices > 1;
    std::vector<std::size_t> order(vertices);
    for (std::size_t v = 0; v < vertices; ++v) {
        order[v] = v;
        std::swap(order[v], order[random(v + 1)]);
    }
    while (list.edges.size() < edges && vertices > 0) {
        auto from = random(vertices);
        auto to = random(vertices);
        if (acyclic) {
            from = random(vertices - 1);
            to = from + 1 + random(vertices - from - 1);
        }
        list.edges.emplace_back(order[from], order[to]);
    }
    return list;
}

/// Returns: whether a path of one edge or more leads from one vertex to another. Complexity:
/// O(V^3).
inline std::vector<std::vector<char>> reachability(const edge_list& list) {
    std::vector<std::vector<char>> reaches(list.count, std::vector<char>(list.count));
    for (auto [from, to] : list.edges) {
        reaches[from][to] = 1;
    }
    for (std::size_t by = 0; by < list.count; ++by) {
        for (std::size_t from = 0; from < list.count; ++from) {
            for (std::size_t to = 0; reaches[from][by] && to < list.count; ++to) {
                reaches[from][to] |= reaches[by][to];
            }
        }
    }
    return reaches;
}

/// Returns: the graph with each edge's position in the list as its value.
inline stemma::operator_graph as_operator_graph(const edge_list& list) {
    std::vector<stemma::operator_edge> edges;
    edges.reserve(list.edges.size());
    for (auto [from, to] : list.edges) {
        const auto place = static_cast<stemma::id>(edges.size());
        edges.push_back({static_cast<stemma::id>(from), static_cast<stemma::id>(to), place});
    }
    return {list.count, edges};
}

inline vector_graph as_vector_graph(const edge_list& list) {
    return {list.edges.begin(), list.edges.end(), list.count};
}

inline list_graph as_list_graph(const edge_list& list) {
    list_graph graph;
    std::vector<list_graph::vertex_descriptor> vertex;
    for (std::size_t v = 0; v < list.count; ++v) {
        vertex.push_back(add_vertex(boost::property<boost::vertex_index_t, std::size_t>(v), graph));
    }
    for (auto [from, to] : list.edges) {
        add_edge(vertex[from], vertex[to], graph);
    }
    return graph;
}

/// Returns: the parent of every vertex of a random rooted tree in preorder; deep for a small
/// `width`, flat for a large one.
inline std::vector<stemma::id> random_parents(random_numbers& random, std::size_t size,
                                              std::size_t width) {
    std::vector<stemma::id> parents{stemma::no_id};
    std::vector<stemma::id> open{0};
    while (parents.size() < size) {
        for (auto closed = random(width); closed > 0 && open.size() > 1; --closed) {
            open.pop_back();
        }
        parents.push_back(open.back());
        open.push_back(static_cast<stemma::id>(parents.size() - 1));
    }
    return parents;
}

} // namespace test

#endif // STEMMA_TESTS_RANDOM_GRAPHS_HPP
