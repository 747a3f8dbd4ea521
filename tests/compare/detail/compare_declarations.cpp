// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/compare_declarations.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>

namespace test::compare_detail_compare_declarations {

namespace {

std::string bytes_of(std::uint64_t opset, unsigned element_type) {
    const auto tensor = test::message().number(1, element_type).inner(2, test::message());
    const auto input = test::message().text(1, "x").inner(2, test::message().inner(1, tensor));
    return test::model(test::graph({test::node("Relu", {"x"}, {"y"})}, {}, {"y"}).inner(11, input),
                       8, opset)
        .bytes();
}

std::string difference_of(const std::string& first, const std::string& second) {
    const stemma::wire_model a(first, "a");
    const stemma::wire_model b(second, "b");
    const auto difference = stemma::detail::compare_declarations(a, b);
    return difference ? difference->text : "";
}

} // namespace

TEST_CASE("compare_declarations: operator sets, types of inputs") {
    CHECK(difference_of(bytes_of(17, 1), bytes_of(17, 1)).empty());
    CHECK(difference_of(bytes_of(17, 1), bytes_of(18, 1)) ==
          "uses opset ai.onnx 17, the other one 18");
    CHECK(difference_of(bytes_of(17, 1), bytes_of(17, 10)) ==
          "declares input x as float32[], the other one as float16[]");
}

} // namespace test::compare_detail_compare_declarations
