// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/sort_answer.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"

#include <stemma/query/find_modules.hpp>

#include <range/v3/algorithm/is_sorted.hpp>
#include <range/v3/algorithm/max.hpp>

#include <functional>
#include <vector>

namespace test::query_sort_answer {

TEST_CASE("sort_answer: by cost, the most expensive come first, and lists are truncated",
          "[query][cost]") {
    stemma::attributed_model opened(test::fixture("two_tower/model.onnx"), {});
    const auto cost = stemma::find_cost(opened, {{{"texts", 3}, {"images", 4}}});
    const auto all = stemma::answer_query(stemma::parse_query("nodes>0"), opened);
    auto first = all;
    stemma::sort_answer(first, cost, stemma::cost_measure::macs, 3);
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

TEST_CASE("sort_answer: values of unknown extents come last") {
    const auto value = [](const char* name, const test::message& dim) {
        return test::message().text(1, name).inner(
            2, test::message().inner(
                   1, test::message().number(1, 1).inner(2, test::message().inner(1, dim))));
    };
    const auto graph = test::graph({test::node("Concat", {"x", "y", "z"}, {"r"})}, {}, {"r"})
                           .inner(11, value("x", test::message().text(2, "9000*batch")))
                           .inner(11, value("y", test::message().number(1, 100)))
                           .inner(11, value("z", test::message().number(1, 200)));
    const test::scratch_folder folder;
    const stemma::attributed_model opened(folder.make("model.onnx", test::model(graph).bytes()),
                                          {});
    const auto inputs = opened.model().inputs(0);
    stemma::query_answer answer;
    answer.values.assign(inputs.begin(), inputs.end());
    stemma::sort_answer(answer, opened, stemma::query_answer::order::parameters);
    CHECK(answer.values == std::vector{inputs[2], inputs[1], inputs[0]});
}

} // namespace test::query_sort_answer
