// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/captured_operations.hpp>

#include "../catch.hpp"

#include <stemma/core/id.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace test::align_captured_operations {

using stemma::captured_operations;

TEST_CASE("captured_operations: additions belong to the operation added last",
          "[captured_operations]") {
    captured_operations operations;
    CHECK(operations.empty());
    const std::vector<std::int64_t> shape{4, 8};
    const auto first = operations.add({3, 1, true, false}, "linear");
    operations.add_name("addmm");
    operations.add_parameter("fc.weight", shape);
    operations.add_parameter("fc.bias", {});
    const auto second = operations.add({5, 0, false, false}, "relu");
    operations.add_source(first);
    const auto third = operations.add({}, "linear");
    REQUIRE(operations.size() == 3);
    CHECK(operations.names_of(first).size() == 2);
    CHECK(operations.names_of(second).size() == 1);
    CHECK(operations.names()[operations.names_of(first)[1]] == "addmm");
    CHECK(operations.names_of(first)[0] == operations.names_of(third)[0]);
    REQUIRE(operations.parameters_of(first).size() == 2);
    CHECK(operations.parameters_of(first)[0].shape == shape);
    CHECK(operations.parameter_names()[operations.parameters_of(first)[1].name] == "fc.bias");
    CHECK(operations.parameters_of(second).empty());
    REQUIRE(operations.sources_of(second).size() == 1);
    CHECK(operations.sources_of(second)[0] == first);
    CHECK(operations.sources_of(third).empty());
    CHECK(operations[second].module == 5);
    CHECK_FALSE(operations[second].exact);
}

TEST_CASE("captured_operations: results of inputs vary, others do not", "[captured_operations]") {
    captured_operations operations;
    const auto constant = operations.add({}, "arange");
    const auto scaled = operations.add({}, "mul");
    operations.add_source(constant);
    const auto read = operations.add({}, "embedding");
    operations.add_input();
    const auto sum = operations.add({}, "add");
    operations.add_source(scaled);
    operations.add_source(read);
    CHECK_FALSE(operations[constant].varies);
    CHECK_FALSE(operations[scaled].varies);
    CHECK(operations[read].varies);
    CHECK(operations[sum].varies);
}

TEST_CASE("reads_first_last: tells operations whose operands exporters rearrange by their own name",
          "[captured_operations]") {
    captured_operations operations;
    for (const char* name : {"torch.Tensor.__rsub__", "torch.Tensor.masked_fill", "torch.addmm"}) {
        CHECK(stemma::detail::reads_first_last(operations, operations.add({}, name)));
    }
    const auto layer = operations.add({}, "torch.nn.functional.linear");
    operations.add_name("aten.addmm.default");
    CHECK_FALSE(stemma::detail::reads_first_last(operations, layer));
}

TEST_CASE("captured_operations: results of the model are kept in order", "[captured_operations]") {
    captured_operations operations;
    CHECK(operations.results().empty());
    const auto first = operations.add({}, "first");
    const auto second = operations.add({}, "second");
    operations.add_result(second);
    operations.add_result(first);
    CHECK(ranges::equal(operations.results(), std::vector<stemma::id>{second, first}));
}

TEST_CASE("captured_operations: faults are kept in order", "[captured_operations]") {
    captured_operations operations;
    operations.add_fault("one");
    operations.add_fault("two");
    CHECK(ranges::equal(operations.faults(), std::vector<std::string>{"one", "two"}));
}

} // namespace test::align_captured_operations
