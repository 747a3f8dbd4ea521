// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/concepts.hpp>

#include "../catch.hpp"

#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <boost/property_map/function_property_map.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace test::core_concepts {

namespace {

using boost::bidirectionalS;
using boost::directedS;
using boost::listS;
using boost::vecS;

using both_ways = boost::adjacency_list<vecS, vecS, bidirectionalS>;
using one_way = boost::adjacency_list<vecS, vecS, directedS>;
using unnumbered = boost::adjacency_list<vecS, listS, bidirectionalS>;
using indexed_list = boost::adjacency_list<vecS, listS, bidirectionalS,
                                           boost::property<boost::vertex_index_t, std::size_t>>;

struct plain {};

} // namespace

TEST_CASE("concepts: Boost's graphs model what they offer and no more", "[core][concepts]") {
    STATIC_REQUIRE(stemma::operator_graph_like<both_ways>);
    STATIC_REQUIRE(stemma::operator_graph_like<indexed_list>);
    STATIC_REQUIRE(stemma::explain_operator_graph<indexed_list>());
    STATIC_REQUIRE(stemma::bidirectional_graph<unnumbered>);
    STATIC_REQUIRE_FALSE(stemma::vertex_indexed_graph<unnumbered>);
    STATIC_REQUIRE(stemma::operator_graph_like<boost::reverse_graph<both_ways>>);

    STATIC_REQUIRE(stemma::vertex_list_graph<one_way>);
    STATIC_REQUIRE(stemma::incidence_graph<one_way>);
    STATIC_REQUIRE_FALSE(stemma::bidirectional_graph<one_way>);
    STATIC_REQUIRE_FALSE(stemma::operator_graph_like<one_way>);
}

TEST_CASE("concepts: the library's own graphs are among them", "[core][concepts]") {
    STATIC_REQUIRE(stemma::operator_graph_like<stemma::operator_graph>);
    STATIC_REQUIRE(stemma::operator_graph_like<stemma::module_tree>);
}

TEST_CASE("concepts: text lasts unless it is a string by value", "[core][concepts]") {
    STATIC_REQUIRE(stemma::lasting_text<std::string_view>);
    STATIC_REQUIRE(stemma::lasting_text<const char*>);
    STATIC_REQUIRE(stemma::lasting_text<const std::string&>);
    STATIC_REQUIRE_FALSE(stemma::lasting_text<std::string>);
    STATIC_REQUIRE_FALSE(stemma::lasting_text<std::string&&>);
    STATIC_REQUIRE_FALSE(stemma::lasting_text<int>);
}

TEST_CASE("concepts: a map of text yields text that lasts", "[core][concepts]") {
    using names = boost::property_map<
        boost::adjacency_list<vecS, vecS, bidirectionalS,
                              boost::property<boost::vertex_name_t, std::string>>,
        boost::vertex_name_t>::const_type;
    using made = boost::function_property_map<std::string (*)(std::size_t), std::size_t>;
    using kept = boost::function_property_map<const char* (*)(std::size_t), std::size_t>;
    STATIC_REQUIRE(stemma::text_map<names, std::size_t>);
    STATIC_REQUIRE(stemma::text_map<kept, std::size_t>);
    STATIC_REQUIRE_FALSE(stemma::text_map<made, std::size_t>);
    STATIC_REQUIRE_FALSE(stemma::text_map<boost::identity_property_map, std::size_t>);
    STATIC_REQUIRE_FALSE(stemma::text_map<plain, std::size_t>);
}

TEST_CASE("index_of: is the interior vertex index", "[core][concepts]") {
    indexed_list graph;
    const std::array<std::size_t, 3> indices{2, 0, 1};
    std::vector<indexed_list::vertex_descriptor> added;
    for (auto i : indices) {
        added.push_back(add_vertex(boost::property<boost::vertex_index_t, std::size_t>(i), graph));
    }
    for (std::size_t i = 0; i < indices.size(); ++i) {
        CHECK(stemma::detail::index_of(graph, added[i]) == indices[i]);
    }
    CHECK(stemma::detail::index_of(both_ways(3), 2) == 2);
}

} // namespace test::core_concepts
