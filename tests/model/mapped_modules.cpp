// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/mapped_modules.hpp>

#include "../catch.hpp"
#include "../random_graphs.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_view.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace test::model_mapped_modules {

using stemma::id;
using stemma::mapped_modules;

namespace {

struct part {
    std::string name;
    std::string type;
    std::string full_type;
    std::size_t index = 0;
};

using part_vector = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, part>;
using part_list = boost::adjacency_list<boost::listS, boost::listS, boost::directedS,
                                        boost::property<boost::vertex_index_t, std::size_t, part>>;

template <class Graph>
auto view_of(const Graph& graph, stemma::vertex_t<Graph> root) {
    return mapped_modules(graph, root, get(&part::name, graph), get(&part::type, graph),
                          get(&part::full_type, graph));
}

void set_index(part_vector&, std::size_t, std::size_t) {}
void set_index(part_list& graph, stemma::vertex_t<part_list> v, std::size_t index) {
    put(boost::vertex_index, graph, v, index);
}

/// Builds a random tree, adding vertices in any order, and compares it with the view.
template <class Graph>
void check_random_tree(test::random_numbers& random) {
    const auto parents = test::random_parents(random, 1 + random(20), 1 + random(4));
    std::vector<std::size_t> order(parents.size());
    for (std::size_t r = 0; r < order.size(); ++r) {
        order[r] = r;
        std::swap(order[r], order[random(r + 1)]);
    }
    Graph graph;
    std::vector<stemma::vertex_t<Graph>> vertex(parents.size());
    for (std::size_t place = 0; place < order.size(); ++place) {
        const auto r = order[place];
        vertex[r] = add_vertex(graph);
        set_index(graph, vertex[r], place);
        const auto number = std::to_string(r);
        graph[vertex[r]] = {"n" + number, "C" + number, "pkg.C" + number, place};
    }
    for (std::size_t r = 1; r < parents.size(); ++r) {
        add_edge(vertex[parents[r]], vertex[r], graph);
    }
    const auto modules = view_of(graph, vertex[0]);
    STATIC_REQUIRE(stemma::module_view<decltype(modules)>);
    STATIC_REQUIRE_FALSE(stemma::counts_calls<decltype(modules)>);
    REQUIRE(modules.index().size() == parents.size());
    for (id m = 0; m < parents.size(); ++m) {
        REQUIRE(modules.index().parent(m) == parents[m]);
        REQUIRE(modules.name(m) == "n" + std::to_string(m));
        REQUIRE(modules.class_name(m) == "C" + std::to_string(m));
        REQUIRE(modules.qualified_class(m) == "pkg.C" + std::to_string(m));
        REQUIRE(modules.vertex(m) == vertex[m]);
        REQUIRE(modules.rank(graph, vertex[m]) == m);
    }
}

} // namespace

TEST_CASE("mapped_modules: any rooted graph reads as a tree in preorder",
          "[model][mapped_modules]") {
    test::random_numbers random(1);
    for (int round = 0; round < 100; ++round) {
        check_random_tree<part_vector>(random);
        check_random_tree<part_list>(random);
    }
}

} // namespace test::model_mapped_modules
