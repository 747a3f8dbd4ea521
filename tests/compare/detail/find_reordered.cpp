// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/find_reordered.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::compare_detail_find_reordered {

namespace {

/// Modules 0, 1, ... that run in this order now.
std::vector<stemma::id> reordered(const std::vector<stemma::id>& now) {
    std::vector<stemma::detail::module_run> runs;
    for (stemma::id rank = 0; rank < now.size(); ++rank) {
        runs.push_back({now[rank], rank, now[rank]});
    }
    return stemma::detail::find_reordered(runs);
}

} // namespace

TEST_CASE("find_reordered: modules in the same order did not move") {
    CHECK(reordered({}).empty());
    CHECK(reordered({0}).empty());
    CHECK(reordered({0, 1, 2, 3}).empty());
}

TEST_CASE("find_reordered: reports only the one that moved") {
    CHECK(reordered({0, 2, 3, 4, 1, 5}) == std::vector<stemma::id>{1});
    CHECK(reordered({0, 4, 1, 2, 3, 5}) == std::vector<stemma::id>{4});
}

TEST_CASE("find_reordered: reports both of two swapped neighbours") {
    CHECK(reordered({0, 2, 1, 3}) == std::vector<stemma::id>{1, 2});
    CHECK(reordered({1, 0}) == std::vector<stemma::id>{0, 1});
}

TEST_CASE("find_reordered: modules between two in either model keep them from being neighbours") {
    CHECK(reordered({0, 3, 1, 2, 4}) == std::vector<stemma::id>{3});
    CHECK(reordered({1, 0, 3, 2}) == std::vector<stemma::id>{0, 1, 2, 3});
}

TEST_CASE("find_reordered: many swapped neighbours take no longer than sorting them") {
    std::vector<stemma::id> now;
    for (stemma::id i = 0; i < 200'000; i += 2) {
        now.insert(now.end(), {i + 1, i});
    }
    CHECK(reordered(now).size() == now.size());
}

} // namespace test::compare_detail_find_reordered
