// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/value_definitions.hpp>

#include "../catch.hpp"
#include "../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <vector>

namespace test::onnx_value_definitions {

using stemma::id;

TEST_CASE("definitions_of, definers_text: name all definitions of a value") {
    const auto bytes =
        test::model(test::graph({test::node("Relu", {"x"}, {"y"}, "a"),
                                 test::node("Tanh", {"x"}, {"y"}), test::node("Neg", {"y"}, {"z"})},
                                {"x"}, {"z"}, {"y"}))
            .bytes();
    const stemma::wire_model model(bytes);
    CHECK(stemma::place_of(model, 0) == "node 'a' (#0)");
    CHECK(stemma::place_of(model, 1) == "node #1");
    const auto y = model.first_output(1);
    CHECK(stemma::detail::definitions_of(model, y).size() == 3);
    CHECK(stemma::detail::definers_text(model, y) == "node 'a' (#0), node #1 and an initializer");
    const auto z = model.first_output(2);
    CHECK(stemma::detail::definitions_of(model, z) == std::vector<id>{z});
}

} // namespace test::onnx_value_definitions
