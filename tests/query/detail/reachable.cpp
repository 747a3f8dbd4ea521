// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/detail/reachable.hpp>

#include "../../catch.hpp"

#include <stemma/model/operator_graph.hpp>

#include <vector>

namespace test::query_detail_reachable {

namespace {

using stemma::id;
using stemma::detail::direction;
using stemma::detail::reach;

/// 0 -> 1 -> 2 -> 3, 1 -> 3, and 4 alone.
stemma::operator_graph make_graph() {
    std::vector<stemma::operator_edge> edges;
    for (const auto& [from, to] : std::vector<std::pair<id, id>>{{0, 1}, {1, 2}, {2, 3}, {1, 3}}) {
        edges.push_back({from, to, from, 0, 0});
    }
    return {5, edges};
}

std::vector<id> reached(const std::vector<id>& from, direction way, reach far) {
    std::vector<id> vertices;
    const auto marks = stemma::detail::reachable(make_graph(), from, way, far);
    for (id v = 0; v < marks.size(); ++v) {
        if (marks[v] != 0) {
            vertices.push_back(v);
        }
    }
    return vertices;
}

} // namespace

TEST_CASE("reachable: one edge or all, excluding the start") {
    CHECK(reached({1}, direction::to_readers, reach::one_edge) == std::vector<id>{2, 3});
    CHECK(reached({0}, direction::to_readers, reach::any) == std::vector<id>{1, 2, 3});
    CHECK(reached({0}, direction::to_readers, reach::one_edge) == std::vector<id>{1});
    CHECK(reached({3}, direction::to_producers, reach::any) == std::vector<id>{0, 1, 2});
    CHECK(reached({1, 2}, direction::to_readers, reach::any) == std::vector<id>{3});
    CHECK(reached({4}, direction::to_readers, reach::any).empty());
    CHECK(reached({}, direction::to_readers, reach::any).empty());
}

} // namespace test::query_detail_reachable
