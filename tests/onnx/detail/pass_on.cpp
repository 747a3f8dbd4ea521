// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/pass_on.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <string_view>
#include <vector>

namespace test::onnx_detail_pass_on {

TEST_CASE(
    "pass_on: results of Identity nodes, one behind another, have the origin of their input") {
    const auto bytes =
        test::model(
            test::graph({test::node("Identity", {"w"}, {"a"}), test::node("Identity", {"a"}, {"b"}),
                         test::node("Identity", {"x"}, {"c"}), test::node("Neg", {"w"}, {"d"}),
                         test::node("Add", {"b", "c"}, {"y"})},
                        {"x"}, {"y", "d"}, {"w"}))
            .bytes();
    const stemma::wire_model model(bytes);
    std::vector<stemma::id> origins(model.value_count(), stemma::no_id);
    stemma::id weight = stemma::no_id;
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        weight = model.is_initializer(value) ? value : weight;
    }
    REQUIRE(weight != stemma::no_id);
    origins[weight] = weight;
    CHECK(stemma::detail::pass_on(model, origins) ==
          std::vector<bool>{true, true, false, false, false});
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        const std::string_view name = model.value_name(value);
        const bool expected = name == "w" || name == "a" || name == "b";
        CHECK(origins[value] == (expected ? weight : stemma::no_id));
    }
}

} // namespace test::onnx_detail_pass_on
