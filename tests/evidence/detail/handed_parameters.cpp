// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/handed_parameters.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_handed_parameters {

namespace {

std::string model_of(const std::vector<test::message>& functions) {
    auto model = test::model(test::graph({test::node("Relu", {"x"}, {"y"})}, {"x"}, {"y"}), 10);
    for (const auto& one : functions) {
        model.inner(25, one);
    }
    return model.bytes();
}

} // namespace

TEST_CASE("handed_parameters: calls are counted down to the first operator that reads an input") {
    const auto bytes = model_of(
        {test::function("d", "Inner", {"a", "b"}, {"c"}, {test::node("Add", {"a", "b"}, {"c"})}),
         test::function("d", "Middle", {"a", "b"}, {"c"},
                        {test::node("Inner", {"b", "a"}, {"e"}, "", "d"),
                         test::node("Add", {"a", "e"}, {"c"})}),
         test::function("d", "Outer", {"a", "b", "left"}, {"c"},
                        {test::node("Middle", {"a", "b"}, {"c"}, "", "d")})});
    const stemma::wire_model model(bytes);
    const stemma::onnx_operators ops(model);
    const stemma::detail::handed_parameters handed(ops);
    CHECK(handed.calls_below(0, 0) == 0);
    CHECK(handed.calls_below(1, 0) == 0); // the shorter way
    CHECK(handed.calls_below(1, 1) == 1);
    CHECK(handed.calls_below(2, 0) == 1);
    CHECK(handed.calls_below(2, 1) == 2);
    CHECK(handed.calls_below(2, 2) == 0); // never read
}

TEST_CASE("handed_parameters: handles recursive functions") {
    const auto bytes = model_of({test::function("d", "Endless", {"a"}, {"b"},
                                                {test::node("Endless", {"a"}, {"b"}, "", "d")})});
    const stemma::wire_model model(bytes);
    const stemma::detail::handed_parameters handed{stemma::onnx_operators(model)};
    CHECK(handed.calls_below(0, 0) == 0);
}

} // namespace test::evidence_detail_handed_parameters
