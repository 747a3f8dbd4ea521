// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/complete_calls.hpp>

#include "../../catch.hpp"
#include "../../random_graphs.hpp"

#include <algorithm>
#include <vector>

namespace test::cut_detail_complete_calls {

namespace {

using stemma::id;
using stemma::no_id;

/// Returns: by vertex its call, when vertices 0, 1, ... have these calls.
std::vector<id> completed(const test::edge_list& edges, const std::vector<id>& calls) {
    const auto graph = test::as_operator_graph(edges);
    std::vector<stemma::detail::call_member<id>> members;
    std::vector<id> rank;
    for (id v = 0; v < calls.size(); ++v) {
        members.push_back({v, calls[v]});
        rank.push_back(v);
    }
    stemma::detail::complete_calls(graph, std::span<const id>(rank), members);
    std::vector<id> result(calls.size());
    for (const auto& m : members) {
        result[m.vertex] = m.call;
    }
    return result;
}

} // namespace

TEST_CASE("complete_calls: known calls stay", "[algorithm][complete_calls]") {
    CHECK(completed({3, {{0, 1}, {1, 2}}}, {2, 0, 1}) == std::vector<id>{2, 0, 1});
}

TEST_CASE("complete_calls: an unknown call is that of a producer, along chains",
          "[algorithm][complete_calls]") {
    CHECK(completed({4, {{0, 1}, {1, 2}, {2, 3}}}, {1, no_id, no_id, 0}) ==
          std::vector<id>{1, 1, 1, 0});
}

TEST_CASE("complete_calls: without a producer's, it is a reader's, otherwise the first",
          "[algorithm][complete_calls]") {
    CHECK(completed({3, {{0, 1}, {1, 2}}}, {no_id, no_id, 1}) == std::vector<id>{1, 1, 1});
    CHECK(completed({2, {}}, {no_id, 3}) == std::vector<id>{0, 3});
}

} // namespace test::cut_detail_complete_calls
