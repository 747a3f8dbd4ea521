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
    captured_operations made;
    CHECK(made.empty());
    const std::vector<std::int64_t> shape{4, 8};
    const auto first = made.add({3, 1, true, false}, "linear");
    made.add_name("addmm");
    made.add_parameter("fc.weight", shape);
    made.add_parameter("fc.bias", {});
    const auto second = made.add({5, 0, false, false}, "relu");
    made.add_source(first);
    const auto third = made.add({}, "linear");
    REQUIRE(made.size() == 3);
    CHECK(made.names_of(first).size() == 2);
    CHECK(made.names_of(second).size() == 1);
    CHECK(made.names()[made.names_of(first)[1]] == "addmm");
    CHECK(made.names_of(first)[0] == made.names_of(third)[0]);
    REQUIRE(made.parameters_of(first).size() == 2);
    CHECK(made.parameters_of(first)[0].shape == shape);
    CHECK(made.parameter_names()[made.parameters_of(first)[1].name] == "fc.bias");
    CHECK(made.parameters_of(second).empty());
    REQUIRE(made.sources_of(second).size() == 1);
    CHECK(made.sources_of(second)[0] == first);
    CHECK(made.sources_of(third).empty());
    CHECK(made[second].module == 5);
    CHECK_FALSE(made[second].exact);
}

TEST_CASE("captured_operations: results of inputs vary, others do not", "[captured_operations]") {
    captured_operations made;
    const auto constant = made.add({}, "arange");
    const auto scaled = made.add({}, "mul");
    made.add_source(constant);
    const auto read = made.add({}, "embedding");
    made.add_input();
    const auto sum = made.add({}, "add");
    made.add_source(scaled);
    made.add_source(read);
    CHECK_FALSE(made[constant].varies);
    CHECK_FALSE(made[scaled].varies);
    CHECK(made[read].varies);
    CHECK(made[sum].varies);
}

TEST_CASE("captured_operations: faults are kept in order", "[captured_operations]") {
    captured_operations made;
    made.add_fault("one");
    made.add_fault("two");
    CHECK(ranges::equal(made.faults(), std::vector<std::string>{"one", "two"}));
}

} // namespace test::align_captured_operations
