// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/module_tree.hpp>

#include "../boost_algorithms.hpp"
#include "../catch.hpp"
#include "../random_graphs.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <boost/concept/assert.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <range/v3/algorithm/equal.hpp>
#include <range/v3/iterator/operations.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace test::model_module_tree {

using stemma::id;
using stemma::module_tree;
using stemma::module_tree_builder;
using stemma::no_id;

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<module_tree>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<module_tree>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<module_tree>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<module_tree>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<module_tree, id, boost::vertex_index_t>));

namespace {

/// Returns: a tree with these parents; the child at rank r is called `r`.
module_tree tree_of(const std::vector<id>& parents) {
    module_tree_builder builder("net");
    for (id m = 1; m < parents.size(); ++m) {
        builder.child(parents[m], std::to_string(m));
    }
    return builder.build();
}

test::edge_list edges_of(const std::vector<id>& parents) {
    test::edge_list list{parents.size(), {}};
    for (std::size_t m = 1; m < parents.size(); ++m) {
        list.edges.emplace_back(parents[m], m);
    }
    return list;
}

} // namespace

TEST_CASE("module_tree: is the graph given by its parents", "[model][module_tree]") {
    test::random_numbers random(1);
    for (int round = 0; round < 100; ++round) {
        const auto parents = test::random_parents(random, 1 + random(30), 1 + random(5));
        const auto tree = tree_of(parents);
        REQUIRE(num_vertices(tree) == parents.size());
        REQUIRE(num_edges(tree) == parents.size() - 1);
        REQUIRE(std::distance(vertices(tree).first, vertices(tree).second) ==
                static_cast<std::ptrdiff_t>(parents.size()));
        for (id m = 0; m < parents.size(); ++m) {
            std::vector<id> children;
            for (id child = 1; child < parents.size(); ++child) {
                if (parents[child] == m) {
                    children.push_back(child);
                }
            }
            const auto [first, last] = adjacent_vertices(m, tree);
            REQUIRE(std::equal(first, last, children.begin(), children.end()));
            const auto [out, out_last] = out_edges(m, tree);
            REQUIRE(std::equal(out, out_last, children.begin(), children.end(),
                               [&](const auto& e, id child) {
                                   return source(e, tree) == m && target(e, tree) == child;
                               }));
            REQUIRE(out_degree(m, tree) == children.size());
            REQUIRE(ranges::equal(tree.children(m), children));
            REQUIRE(in_degree(m, tree) == (m == 0 ? 0 : 1));
            REQUIRE(degree(m, tree) == in_degree(m, tree) + out_degree(m, tree));
            const auto [in, in_last] = in_edges(m, tree);
            REQUIRE((in == in_last) == (m == 0));
            if (m != 0) {
                REQUIRE(source(*in, tree) == parents[m]);
                REQUIRE(target(*in, tree) == m);
                REQUIRE(std::next(in) == in_last);
            }
            REQUIRE(get(boost::vertex_index, tree, m) == m);
        }
    }
}

TEST_CASE("module_tree: works with Boost's algorithms", "[model][module_tree]") {
    test::random_numbers random(2);
    for (int round = 0; round < 60; ++round) {
        const auto parents = test::random_parents(random, 1 + random(15), 1 + random(5));
        const auto tree = tree_of(parents);
        const auto list = edges_of(parents);
        test::check_topological_sort(tree, list);
        test::check_strong_components(tree, list);
        test::check_breadth_first_search(tree, list);
        test::check_depth_first_search(tree, list);
        test::check_dominator_tree(tree, list);
        test::check_write_graphviz(tree, list);
    }
}

TEST_CASE("module_tree: its ranges compose with range-v3's views", "[model][module_tree]") {
    const auto tree = tree_of({no_id, 0, 1, 2, 1, 0, 5});
    const auto named = [&](auto range) {
        return range | ranges::views::transform([&](id m) { return tree.path(m); }) |
               ranges::to<std::vector<std::string>>();
    };
    using texts = std::vector<std::string>;
    CHECK(named(tree.children(0)) == texts{"1", "5"});
    CHECK(named(tree.ancestors(3)) == texts{"1.2", "1", ""});
    CHECK(named(tree.descendants(1)) == texts{"1.2", "1.2.3", "1.4"});
    CHECK(tree.modules().size() == tree.size());
    const auto is_leaf = [&](id m) { return tree.children(m).empty(); };
    CHECK(named(tree.modules() | ranges::views::filter(is_leaf) | ranges::views::reverse) ==
          texts{"5.6", "1.4", "1.2.3"});
    CHECK(ranges::distance(tree.children(1) |
                           ranges::views::transform([&](id m) { return tree.children(m); }) |
                           ranges::views::join) == 1);
}

TEST_CASE("module_tree: by default, one unnamed module", "[model][module_tree]") {
    const module_tree tree;
    CHECK(tree.size() == 1);
    CHECK(tree.name(0).empty());
    CHECK(tree.class_name(0).empty());
    CHECK(tree.qualified_class(0).empty());
    CHECK(tree.calls(0) == no_id);
    CHECK(tree.path(0).empty());
    CHECK(tree.child(0, "") == no_id);
    CHECK(tree.parameter_count(0) == 0);
    CHECK(tree.buffer_count(0) == 0);
    CHECK(tree.aliases_of(0).empty());
    CHECK(num_edges(tree) == 0);
}

TEST_CASE("module_tree: a path is the names from below the root", "[model][module_tree]") {
    test::random_numbers random(3);
    const auto parents = test::random_parents(random, 200, 3);
    const auto tree = tree_of(parents);
    for (id m = 0; m < tree.size(); ++m) {
        std::string expected;
        for (auto at = m; at != 0; at = parents[at]) {
            expected = std::to_string(at) + (expected.empty() ? "" : ".") + expected;
        }
        CHECK(tree.path(m) == expected);
        CHECK(tree.path_length(m) == expected.size());
        std::string appended = "at ";
        tree.append_path(m, appended);
        CHECK(appended == "at " + expected);
        CHECK((m == 0 || tree.child(parents[m], std::to_string(m)) == m));
        CHECK(tree.child(m, "none") == no_id);
    }
}

TEST_CASE("module_tree: handles a depth of a million", "[model][module_tree]") {
    constexpr id count = 1'000'000;
    module_tree_builder builder;
    id deepest = 0;
    for (id m = 1; m < count; ++m) {
        deepest = builder.child(deepest, "m");
    }
    const auto tree = builder.build();
    REQUIRE(tree.size() == count);
    CHECK(tree.index().depth(count - 1) == count - 1);
    CHECK(tree.path(count - 1).size() == 2 * count - 3);
}

TEST_CASE("module_tree: finds each of many children", "[model][module_tree]") {
    module_tree_builder builder;
    for (id m = 0; m < 100; ++m) {
        const auto child = builder.child(0, std::to_string(m));
        for (id below = 0; below < m % 12; ++below) {
            builder.child(child, std::to_string(below));
        }
    }
    const auto tree = builder.build();
    id children = 0;
    for (id m = 1; m < tree.size(); ++m) {
        const auto parent = tree.index().parent(m);
        CHECK(tree.child(parent, tree.name(m)) == m);
        CHECK(tree.child(m, "12") == no_id);
        children += parent == 0 ? 1U : 0U;
    }
    CHECK(children == 100);
    CHECK(tree.child(0, "100") == no_id);
}

TEST_CASE("module_tree: a report shows the end of a long path", "[model][module_tree]") {
    module_tree_builder builder;
    id m = 0;
    for (id level = 0; level < 2000; ++level) {
        m = builder.child(m, std::to_string(level));
    }
    const auto tree = builder.build();
    const std::string cut = "\xe2\x80\xa6.";
    for (m = 0; m < tree.size(); ++m) {
        const auto path = tree.path(m);
        const auto shown = tree.report_path(m);
        if (path.size() <= module_tree::report_path_length) {
            CHECK(shown == path);
            continue;
        }
        REQUIRE(shown.substr(0, cut.size()) == cut);
        const auto end = shown.substr(cut.size());
        CHECK(end.size() <= module_tree::report_path_length);
        CHECK(end.size() + 6 > module_tree::report_path_length);
        CHECK(path.ends_with("." + end));
    }
}

TEST_CASE("module_tree: a copy is independent", "[model][module_tree]") {
    module_tree copy;
    {
        const auto original = tree_of({no_id, 0, 1, 0});
        copy = original;
    }
    CHECK(copy.path(2) == "1.2");
    CHECK(copy.child(0, "3") == 3);
    CHECK(target(*out_edges(1, copy).first, copy) == 2);
}

TEST_CASE("tensor_info: counts elements, 0 if an extent is unknown", "[model][module_tree]") {
    const auto elements = [](std::vector<std::int64_t> shape) {
        return stemma::tensor_info{"w", "float32", shape, true}.elements();
    };
    CHECK(elements({}) == 1);
    CHECK(elements({2, 3, 4}) == 24);
    CHECK(elements({2, 0, 4}) == 0);
    CHECK(elements({2, -1, 4}) == 0);
}

} // namespace test::model_module_tree
