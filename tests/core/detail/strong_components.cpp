// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/strong_components.hpp>

#include "../../catch.hpp"
#include "../../random_graphs.hpp"
#include "../../random_numbers.hpp"

#include <cstddef>
#include <vector>

namespace test::core_detail_strong_components {

namespace {

void check(const std::vector<stemma::id>& components,
           const std::vector<std::vector<char>>& reaches) {
    REQUIRE(components.size() == reaches.size());
    bool right = true;
    for (std::size_t u = 0; u < components.size(); ++u) {
        for (std::size_t v = 0; v < components.size(); ++v) {
            const bool both = u == v || (reaches[u][v] != 0 && reaches[v][u] != 0);
            right = right && both == (components[u] == components[v]);
            right = right && (both || reaches[u][v] == 0 || components[v] < components[u]);
        }
    }
    CHECK(right);
}

} // namespace

TEST_CASE("find_strong_components: two vertices share one iff each is reachable from the other") {
    test::random_numbers random(5);
    for (int round = 0; round < 300; ++round) {
        const auto size = 1 + random(12);
        const auto list = test::random_edges(random, size, random(2 * size + 1));
        const auto reaches = test::reachability(list);
        check(stemma::detail::find_strong_components(test::as_vector_graph(list)), reaches);
        check(stemma::detail::find_strong_components(test::as_operator_graph(list)), reaches);
    }
}

TEST_CASE("find_strong_components: a long cycle needs no deep stack") {
    test::edge_list list;
    list.count = 300000;
    for (std::size_t v = 0; v < list.count; ++v) {
        list.edges.emplace_back(v, (v + 1) % list.count);
    }
    const auto components = stemma::detail::find_strong_components(test::as_vector_graph(list));
    CHECK(components.front() == 0);
    const bool equal = std::vector<stemma::id>(list.count, 0) == components;
    CHECK(equal);
}

TEST_CASE("find_strong_components: an empty graph has none") {
    CHECK(stemma::detail::find_strong_components(test::as_vector_graph({})).empty());
}

} // namespace test::core_detail_strong_components
