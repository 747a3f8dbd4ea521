// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/operator_graph.hpp>

#include "../boost_algorithms.hpp"
#include "../catch.hpp"
#include "../random_graphs.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>

#include <boost/concept/assert.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <range/v3/algorithm/equal.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace test::model_operator_graph {

using stemma::id;
using stemma::no_id;
using stemma::operator_edge;
using stemma::operator_graph;
using stemma::value_index;
using stemma::detail::in_port;
using stemma::detail::out_port;

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<operator_graph>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<operator_graph>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<operator_graph>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<operator_graph>));
BOOST_CONCEPT_ASSERT(
    (boost::ReadablePropertyGraphConcept<operator_graph, id, boost::vertex_index_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<operator_graph, operator_graph::edge,
                                                          boost::edge_index_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<operator_graph, operator_graph::edge,
                                                          stemma::value_index_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<operator_graph, operator_graph::edge,
                                                          stemma::detail::in_port_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<operator_graph, operator_graph::edge,
                                                          stemma::detail::out_port_t>));

namespace {

std::vector<operator_edge> random_operator_edges(test::random_numbers& random, std::size_t vertices,
                                                 std::size_t count) {
    std::vector<operator_edge> list;
    for (auto [from, to] : test::random_edges(random, vertices, count).edges) {
        list.push_back({static_cast<id>(from), static_cast<id>(to), static_cast<id>(random(50)),
                        static_cast<id>(random(4)), random.one_in(5) ? no_id : 7});
    }
    return list;
}

/// Whether an edge descriptor corresponds to an edge passed in.
bool stands_for(const operator_graph& graph, const operator_graph::edge& e,
                const operator_edge& given) {
    return source(e, graph) == given.source && target(e, graph) == given.target &&
           get(value_index, graph, e) == given.value && get(in_port, graph, e) == given.in_port &&
           get(out_port, graph, e) == given.out_port &&
           get(get(value_index, graph), e) == given.value &&
           get(get(in_port, graph), e) == given.in_port &&
           get(get(out_port, graph), e) == given.out_port;
}

/// Whether a range of edge descriptors is these edges in this order.
template <class Range>
bool is_list(const operator_graph& graph, Range range, const std::vector<operator_edge>& expected) {
    return std::equal(
        range.first, range.second, expected.begin(), expected.end(),
        [&](const auto& e, const auto& given) { return stands_for(graph, e, given); });
}

} // namespace

TEST_CASE("operator_graph: agrees with the list it was made from", "[model][operator_graph]") {
    test::random_numbers random(1);
    for (int round = 0; round < 200; ++round) {
        const auto count = 1 + random(12);
        const auto given = random_operator_edges(random, count, random(30));
        const operator_graph graph(count, given);
        REQUIRE(num_vertices(graph) == count);
        REQUIRE(num_edges(graph) == given.size());
        auto by_reader = given;
        std::stable_sort(by_reader.begin(), by_reader.end(),
                         [](const auto& a, const auto& b) { return a.target < b.target; });
        REQUIRE(is_list(graph, edges(graph), by_reader));
        for (id v = 0; v < count; ++v) {
            std::vector<operator_edge> in;
            std::vector<operator_edge> out;
            std::copy_if(given.begin(), given.end(), std::back_inserter(in),
                         [&](const auto& e) { return e.target == v; });
            std::copy_if(by_reader.begin(), by_reader.end(), std::back_inserter(out),
                         [&](const auto& e) { return e.source == v; });
            REQUIRE(is_list(graph, in_edges(v, graph), in));
            REQUIRE(is_list(graph, out_edges(v, graph), out));
            REQUIRE(in_degree(v, graph) == in.size());
            REQUIRE(out_degree(v, graph) == out.size());
            REQUIRE(degree(v, graph) == in.size() + out.size());
            const auto [first, last] = adjacent_vertices(v, graph);
            REQUIRE(std::equal(first, last, out.begin(), out.end(),
                               [](id reader, const auto& e) { return reader == e.target; }));
            const auto producers = graph.producers(v);
            REQUIRE(std::equal(producers.begin(), producers.end(), in.begin(), in.end(),
                               [](id producer, const auto& e) { return producer == e.source; }));
            REQUIRE(get(boost::vertex_index, graph, v) == v);
        }
    }
}

TEST_CASE("operator_graph: an edge is the same from all sides", "[model][operator_graph]") {
    test::random_numbers random(2);
    const auto given = random_operator_edges(random, 8, 40);
    const operator_graph graph(8, given);
    std::vector<operator_graph::edge> by_index(given.size());
    for (auto [it, last] = edges(graph); it != last; ++it) {
        by_index[get(boost::edge_index, graph, *it)] = *it;
        CHECK(get(get(boost::edge_index, graph), *it) == (*it).index);
    }
    for (id v = 0; v < 8; ++v) {
        for (auto [it, last] = in_edges(v, graph); it != last; ++it) {
            CHECK(by_index[(*it).index] == *it);
        }
        for (auto [it, last] = out_edges(v, graph); it != last; ++it) {
            CHECK(by_index[(*it).index] == *it);
        }
    }
}

TEST_CASE("operator_graph: iterators step and jump consistently", "[model][operator_graph]") {
    const std::vector<operator_edge> given{{0, 2, 5}, {1, 2, 6}, {1, 2, 7}, {1, 0, 8}};
    const operator_graph graph(3, given);
    const auto [first, last] = in_edges(2, graph);
    REQUIRE(last - first == 3);
    CHECK(get(value_index, graph, *(first + 2)) == 7);
    CHECK(*(last - 1) == *(first + 2));
    auto it = last;
    CHECK(*--it == *(first + 2));
    CHECK(first < last);
    const auto [reader, end] = out_edges(1, graph);
    CHECK(target(*reader, graph) == 0);
    CHECK(end - reader == 3);
    CHECK(*std::next(adjacent_vertices(1, graph).first) == 2);
}

TEST_CASE("operator_graph: readers and producers compose with range-v3's views",
          "[model][operator_graph]") {
    test::random_numbers random(5);
    for (int round = 0; round < 50; ++round) {
        const auto graph = test::as_operator_graph(test::random_edges(random, 12, 20));
        for (id v = 0; v < num_vertices(graph); ++v) {
            const auto [first, last] = adjacent_vertices(v, graph);
            REQUIRE(ranges::equal(graph.readers(v), std::vector<id>(first, last)));
            std::vector<id> producers;
            for (auto [it, end] = in_edges(v, graph); it != end; ++it) {
                producers.push_back(source(*it, graph));
            }
            REQUIRE(ranges::equal(graph.producers(v), producers));
        }
        auto ways = graph.readers(0) | ranges::views::filter([](id v) { return v != 0; }) |
                    ranges::views::transform([&](id v) { return graph.readers(v).size(); });
        std::size_t expected = 0;
        for (auto [it, last] = out_edges(0, graph); it != last; ++it) {
            expected += target(*it, graph) == 0 ? 0 : out_degree(target(*it, graph), graph);
        }
        REQUIRE(ranges::accumulate(ways, std::size_t{0}) == expected);
    }
}

TEST_CASE("operator_graph: can be empty", "[model][operator_graph]") {
    for (const auto& graph : {operator_graph(), operator_graph(0, {})}) {
        CHECK(num_vertices(graph) == 0);
        CHECK(vertices(graph).first == vertices(graph).second);
        CHECK(edges(graph).first == edges(graph).second);
    }
    const operator_graph lonely(2, {});
    CHECK(num_vertices(lonely) == 2);
    CHECK(in_edges(1, lonely).first == in_edges(1, lonely).second);
    CHECK(out_edges(0, lonely).first == out_edges(0, lonely).second);
}

TEST_CASE("operator_graph: works with Boost's algorithms", "[model][operator_graph]") {
    test::random_numbers random(3);
    for (int round = 0; round < 150; ++round) {
        const auto edges = test::random_edges(random, 1 + random(10), random(18));
        const auto graph = test::as_operator_graph(edges);
        test::check_topological_sort(graph, edges);
        test::check_strong_components(graph, edges);
        test::check_breadth_first_search(graph, edges);
        test::check_depth_first_search(graph, edges);
        test::check_dominator_tree(graph, edges);
        test::check_write_graphviz(graph, edges);
    }
}

} // namespace test::model_operator_graph
