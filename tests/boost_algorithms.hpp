// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_BOOST_ALGORITHMS_HPP
#define STEMMA_TESTS_BOOST_ALGORITHMS_HPP

#include "catch.hpp"
#include "random_graphs.hpp"

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <boost/graph/exception.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>
#include <boost/graph/visitors.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

/// Boost's algorithms run on a graph whose vertices are 0 to n - 1, compared with results by
/// definition on an edge list of the same graph.
namespace test {

template <class Graph>
void check_topological_sort(const Graph& graph, const edge_list& list) {
    const auto reaches = reachability(list);
    bool has_cycle = false;
    for (std::size_t v = 0; v < list.count; ++v) {
        has_cycle = has_cycle || reaches[v][v];
    }
    std::vector<std::size_t> readers_first;
    bool found_cycle = false;
    try {
        boost::topological_sort(graph, std::back_inserter(readers_first));
    } catch (const boost::not_a_dag&) {
        found_cycle = true;
    }
    REQUIRE(found_cycle == has_cycle);
    if (!has_cycle) {
        REQUIRE(readers_first.size() == list.count);
        std::vector<std::size_t> place(list.count);
        for (std::size_t i = 0; i < list.count; ++i) {
            place[readers_first[i]] = i;
        }
        for (auto [from, to] : list.edges) {
            REQUIRE(place[to] < place[from]);
        }
    }
}

template <class Graph>
void check_strong_components(const Graph& graph, const edge_list& list) {
    const auto reaches = reachability(list);
    std::vector<int> component(list.count);
    const auto index = get(boost::vertex_index, graph);
    boost::strong_components(graph, boost::make_iterator_property_map(component.begin(), index));
    for (std::size_t u = 0; u < list.count; ++u) {
        for (std::size_t v = 0; v < list.count; ++v) {
            const bool together = u == v || (reaches[u][v] && reaches[v][u]);
            REQUIRE((component[u] == component[v]) == together);
        }
    }
}

template <class Graph>
void check_breadth_first_search(const Graph& graph, const edge_list& list) {
    constexpr auto far = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> expected(list.count, far);
    expected[0] = 0;
    for (std::size_t round = 0; round < list.count; ++round) {
        for (auto [from, to] : list.edges) {
            if (expected[from] != far) {
                expected[to] = std::min(expected[to], expected[from] + 1);
            }
        }
    }
    std::vector<std::size_t> distance(list.count, far);
    distance[0] = 0;
    const auto index = get(boost::vertex_index, graph);
    boost::breadth_first_search(
        graph, *vertices(graph).first,
        boost::visitor(boost::make_bfs_visitor(boost::record_distances(
            boost::make_iterator_property_map(distance.begin(), index), boost::on_tree_edge()))));
    REQUIRE(distance == expected);
}

/// Enters and leaves every vertex once, and finds a back edge iff there is a cycle.
template <class Graph>
void check_depth_first_search(const Graph& graph, const edge_list& list) {
    const auto reaches = reachability(list);
    bool has_cycle = false;
    for (std::size_t v = 0; v < list.count; ++v) {
        has_cycle = has_cycle || reaches[v][v];
    }
    struct counting : boost::default_dfs_visitor {
        explicit counting(std::size_t* counts) : counts_(counts) {}
        void discover_vertex(std::size_t, const Graph&) { ++counts_[0]; }
        void finish_vertex(std::size_t, const Graph&) { ++counts_[1]; }
        void back_edge(typename boost::graph_traits<Graph>::edge_descriptor, const Graph&) {
            ++counts_[2];
        }
        std::size_t* counts_;
    };
    std::size_t counts[3] = {};
    boost::depth_first_search(graph, boost::visitor(counting(counts)));
    REQUIRE(counts[0] == list.count);
    REQUIRE(counts[1] == list.count);
    REQUIRE((counts[2] > 0) == has_cycle);
}

template <class Graph>
void check_write_graphviz(const Graph& graph, const edge_list& list) {
    std::ostringstream out;
    boost::write_graphviz(out, graph);
    std::multiset<std::string> expected{"digraph G {", "}"};
    for (std::size_t v = 0; v < list.count; ++v) {
        expected.insert(std::to_string(v) + ";");
    }
    for (auto [from, to] : list.edges) {
        expected.insert(std::to_string(from) + "->" + std::to_string(to) + " ;");
    }
    std::multiset<std::string> written;
    std::istringstream in(out.str());
    for (std::string line; std::getline(in, line);) {
        written.insert(line);
    }
    REQUIRE(written == expected);
}

template <class Graph>
void check_dominator_tree(const Graph& graph, const edge_list& list) {
    constexpr auto none = std::numeric_limits<std::size_t>::max();
    // u dominates v if v cannot be reached without u.
    const auto reached_without = [&](std::size_t u) {
        std::vector<char> reached(list.count);
        reached[0] = u != 0;
        for (std::size_t round = 0; round < list.count; ++round) {
            for (auto [from, to] : list.edges) {
                if (reached[from] && to != u) {
                    reached[to] = 1;
                }
            }
        }
        return reached;
    };
    const auto reached = reached_without(none);
    std::vector<std::vector<char>> without;
    for (std::size_t u = 0; u < list.count; ++u) {
        without.push_back(reached_without(u));
    }
    using vertex = typename boost::graph_traits<Graph>::vertex_descriptor;
    using size = typename boost::graph_traits<Graph>::vertices_size_type;
    const auto index = get(boost::vertex_index, graph);
    std::vector<vertex> initial(list.count, boost::graph_traits<Graph>::null_vertex());
    // The short form treats unreachable vertices as the entry.
    std::vector<size> number(list.count, std::numeric_limits<size>::max());
    auto parents = initial;
    auto by_number = initial;
    boost::lengauer_tarjan_dominator_tree(
        graph, *vertices(graph).first, index,
        boost::make_iterator_property_map(number.begin(), index),
        boost::make_iterator_property_map(parents.begin(), index), by_number,
        boost::make_iterator_property_map(initial.begin(), index));
    for (std::size_t v = 1; v < list.count; ++v) {
        // The immediate dominator is the one dominated by all others.
        std::size_t nearest = none;
        for (std::size_t u = 0; u < list.count; ++u) {
            const bool dominates = u != v && reached[v] && !without[u][v];
            if (dominates && (nearest == none || !without[nearest][u])) {
                nearest = u;
            }
        }
        if (reached[v]) {
            REQUIRE(initial[v] == nearest);
        }
    }
    const bool reached_all = std::find(reached.begin(), reached.end(), 0) == reached.end();
    if (reached_all) {
        std::vector<vertex> short_form(list.count, boost::graph_traits<Graph>::null_vertex());
        boost::lengauer_tarjan_dominator_tree(
            graph, *vertices(graph).first,
            boost::make_iterator_property_map(short_form.begin(), index));
        REQUIRE(short_form == initial);
    }
}

} // namespace test

#endif // STEMMA_TESTS_BOOST_ALGORITHMS_HPP
