// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/detail/vertices_left.hpp>

#include "../../catch.hpp"
#include "../../random_graphs.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace test::query_detail_vertices_left {

using stemma::id;
using stemma::detail::vertices_left;

/// Removes some three times, then others of the rest, and compares with a set.
template <class Graph>
void expect_as_in_a_set(const Graph& graph, random_numbers& random) {
    std::set<id> expected;
    for (id v = 0; v < num_vertices(graph); ++v) {
        expected.insert(v);
    }
    vertices_left<Graph> remaining(graph);
    for (int i = 0; i < 3; ++i) {
        std::vector<bool> fits;
        std::vector<bool> goes;
        for (id v = 0; v < num_vertices(graph); ++v) {
            fits.push_back(!random.one_in(4));
            goes.push_back(random.one_in(4));
        }
        const auto index = [&](const auto& v) { return stemma::detail::index_of(graph, v); };
        remaining.keep_if(true, [&](const auto& v) { return fits[index(v)]; });
        auto others = remaining;
        others.keep_if(false, [&](const auto& v) { return !goes[index(v)]; });
        drop(others, remaining);
        std::erase_if(expected, [&](id v) { return !fits[v] || goes[v]; });
    }
    CHECK(std::move(remaining).indices() == std::vector<id>(expected.begin(), expected.end()));
}

TEST_CASE("vertices_left: are those that match and were not removed, by index") {
    random_numbers random(5);
    for (const std::size_t count : {0U, 1U, 7U, 255U, 256U, 257U, 2'000U}) {
        const edge_list edges{count, {}};
        expect_as_in_a_set(as_operator_graph(edges), random);
        list_graph listed;
        for (std::size_t i = 0; i < count; ++i) {
            add_vertex(count - 1 - i, listed);
        }
        expect_as_in_a_set(listed, random);
    }
}

TEST_CASE("vertices_left: are all until some are removed, and none when all are") {
    const auto graph = as_operator_graph({3, {}});
    vertices_left remaining(graph);
    CHECK(vertices_left(remaining).indices() == std::vector<id>{0, 1, 2});
    const auto all = remaining;
    drop(all, remaining);
    CHECK(std::move(remaining).indices().empty());
}

} // namespace test::query_detail_vertices_left
