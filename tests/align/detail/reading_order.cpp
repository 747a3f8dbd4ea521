// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/reading_order.hpp>

#include "../../catch.hpp"

#include <stemma/align/captured_operations.hpp>
#include <stemma/core/id.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace test::align_detail_reading_order {

using stemma::captured_operations;
using stemma::id;

namespace {

id run(captured_operations& captured, std::string_view name, const std::vector<id>& sources) {
    captured.add({static_cast<id>(name.size()), 0, true, false}, name);
    for (const auto source : sources) {
        captured.add_source(source);
    }
    return captured.size() - 1;
}

std::vector<id> order_of(const captured_operations& captured) {
    return stemma::detail::reading_order(captured).find().number;
}

} // namespace

TEST_CASE("reading_order: what the first source needs comes before what the second one needs") {
    captured_operations captured;
    const auto stem = run(captured, "stem", {});
    const auto value = run(captured, "value", {stem});
    const auto key = run(captured, "key", {stem});
    const auto query = run(captured, "query", {stem});
    const auto scores = run(captured, "scores", {query, key});
    const auto mean = run(captured, "mean", {scores, value});
    CHECK(order_of(captured) == std::vector<id>{stem, query, key, scores, value, mean});
}

TEST_CASE("reading_order: operands come in the order in which exporters write them") {
    captured_operations captured;
    const auto scores = run(captured, "scores", {});
    const auto mask = run(captured, "mask", {});
    const auto masked = run(captured, "torch.Tensor.masked_fill", {scores, mask});
    CHECK(order_of(captured) == std::vector<id>{mask, scores, masked});
}

TEST_CASE("reading_order: an operation that only looks at a tensor follows it") {
    captured_operations captured;
    const auto value = run(captured, "value", {});
    const auto size = run(captured, "size", {value});
    const auto query = run(captured, "query", {});
    const auto product = run(captured, "product", {query, value});
    CHECK(order_of(captured) == std::vector<id>{query, value, size, product});
}

TEST_CASE("reading_order: results are in the order in which they were computed") {
    captured_operations captured;
    const auto stem = run(captured, "stem", {});
    const auto box = run(captured, "box", {run(captured, "box head", {stem})});
    const auto label = run(captured, "label", {run(captured, "label head", {stem})});
    CHECK(order_of(captured) == std::vector<id>{stem, box - 1, box, label - 1, label});
}

TEST_CASE(
    "reading_order: known results come first, in their order; what leads to none comes last") {
    captured_operations captured;
    const auto stem = run(captured, "stem", {});
    const auto state = run(captured, "state", {});
    const auto unused = run(captured, "unused", {state, stem});
    const auto box = run(captured, "box", {run(captured, "box head", {stem})});
    const auto label = run(captured, "label", {run(captured, "label head", {stem})});
    captured.add_result(label);
    captured.add_result(box);
    const auto order = stemma::detail::reading_order(captured).find();
    CHECK(order.number == std::vector<id>{stem, label - 1, label, box - 1, box, state, unused});
    const auto results = order.operations.results();
    CHECK(std::vector<id>(results.begin(), results.end()) == std::vector<id>{2, 4});
}

TEST_CASE("reading_order: every operation keeps all that is known about it") {
    captured_operations captured;
    const auto late = run(captured, "late", {});
    captured.add_name("aten.late.default");
    captured.add_parameter("late.weight", std::vector<std::int64_t>{2, 3});
    const auto early = run(captured, "early", {});
    run(captured, "sum", {early, late});
    captured.add_fault("cut short");
    const auto order = stemma::detail::reading_order(captured).find();
    REQUIRE(order.number == std::vector<id>{early, late, 2});
    const auto& moved = order.operations;
    CHECK(moved[1].module == captured[late].module);
    REQUIRE(moved.names_of(1).size() == 2);
    CHECK(moved.names()[moved.names_of(1)[1]] == "aten.late.default");
    REQUIRE(moved.parameters_of(1).size() == 1);
    CHECK(moved.parameter_names()[moved.parameters_of(1)[0].name] == "late.weight");
    CHECK(moved.parameters_of(1)[0].shape == std::vector<std::int64_t>{2, 3});
    CHECK(std::vector<id>(moved.sources_of(2).begin(), moved.sources_of(2).end()) ==
          std::vector<id>{0, 1});
    CHECK(moved.faults().size() == 1);
}

} // namespace test::align_detail_reading_order
