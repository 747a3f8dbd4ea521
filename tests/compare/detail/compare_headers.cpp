// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/compare_headers.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>

namespace test::compare_detail_compare_headers {

namespace {

std::string bytes_of(const test::names& inputs, std::uint64_t opset) {
    return test::model(test::graph({test::node("Relu", {inputs.front()}, {"y"})}, inputs, {"y"}), 8,
                       opset)
        .bytes();
}

} // namespace

TEST_CASE("compare_headers: operator sets, inputs and outputs") {
    const auto first = bytes_of({"x"}, 17);
    const auto second = bytes_of({"z", "more"}, 18);
    const stemma::wire_model a(first, "a");
    const stemma::wire_model b(second, "b");
    CHECK(stemma::detail::compare_headers(a, a).empty());
    const auto found = stemma::detail::compare_headers(a, b);
    REQUIRE(found.size() == 3);
    CHECK(found[0].what == "opset ai.onnx");
    CHECK(found[0].second == "18");
    CHECK(found[1].what == "input 0");
    CHECK(found[1].first == "x");
    CHECK(found[2].first.empty());
    CHECK(found[2].second == "more");
}

} // namespace test::compare_detail_compare_headers
