// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/sort_by_cost.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/query/find_modules.hpp>

#include <range/v3/algorithm/is_sorted.hpp>
#include <range/v3/algorithm/max.hpp>

#include <functional>
#include <vector>

namespace test::query_sort_by_cost {

TEST_CASE("sort_by_cost: the most expensive come first, and lists are truncated", "[query][cost]") {
    stemma::attributed_model opened(test::fixture("two_tower/model.onnx"), {});
    const auto cost = stemma::find_cost(opened, {{{"texts", 3}, {"images", 4}}});
    const auto all = stemma::answer_query(stemma::parse_query("nodes>0"), opened);
    auto first = all;
    stemma::sort_by_cost(first, cost, stemma::cost_measure::macs, 3);
    REQUIRE(first.modules.size() == 3);
    REQUIRE(first.nodes.size() == 3);
    const auto macs = [&](stemma::id m) { return *cost[m].macs.constant(); };
    CHECK(ranges::is_sorted(first.modules, std::greater<>(), macs));
    CHECK(ranges::max(all.modules, {}, macs) == first.modules.front());
    const auto largest =
        ranges::max(all.nodes, {}, [&](stemma::id node) { return cost.node_macs(node); });
    CHECK(cost.node_macs(first.nodes.front()) == cost.node_macs(largest));
    CHECK(cost.node_macs(first.nodes.front()) > 0);
}

} // namespace test::query_sort_by_cost
