// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/demand_rules.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/value_types.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace test::types_detail_demand_rules {

namespace demands = stemma::detail::demands;

namespace {

/// What is demanded of an input of an operator that reads a value of unknown type.
std::optional<std::size_t> rank(stemma::detail::rank_demand demand, std::size_t slot,
                                const test::names& inputs,
                                const std::vector<test::message>& attributes = {}) {
    const auto bytes = test::inference_scene()
                           .weight("w", {6, 3, 5})
                           .numbers("pads", {0, 1, 0, 1})
                           .node(test::owner_node("Any", inputs, {"y"}, attributes))
                           .model_with("y");
    const stemma::wire_model model(bytes);
    stemma::value_types types(model);
    stemma::detail::fact_table table(model, types);
    return demand(stemma::detail::rule_node(table, 0), slot);
}

} // namespace

TEST_CASE("demand_rules: fixed ranks of some inputs") {
    CHECK(rank(demands::fixed<3, 0, 5>, 0, {"x"}) == 3U);
    CHECK(rank(demands::fixed<3, 0, 5>, 5, {"x"}) == 3U);
    CHECK(rank(demands::fixed<3, 0, 5>, 1, {"x"}) == std::nullopt);
}

TEST_CASE("demand_rules: a window has the rank of its size or of its weights") {
    const auto size = test::ints_attribute("kernel_shape", {3, 3});
    CHECK(rank(demands::window<1>, 0, {"x", "w"}) == 3U);
    CHECK(rank(demands::window<1>, 0, {"x", "v"}) == std::nullopt);
    CHECK(rank(demands::window<1>, 0, {"x", "v"}, {size}) == 4U);
    CHECK(rank(demands::window<1>, 1, {"x", "w"}) == std::nullopt);
    CHECK(rank(demands::window<0>, 0, {"w"}) == std::nullopt);
}

TEST_CASE("demand_rules: permutations, padding, and what has equal ranks") {
    CHECK(rank(demands::permutation, 0, {"x"}, {test::ints_attribute("perm", {1, 0})}) == 2U);
    CHECK(rank(demands::permutation, 0, {"x"}) == std::nullopt);
    CHECK(rank(demands::padding, 0, {"x", "pads"}) == 2U);
    CHECK(rank(demands::padding, 0, {"x", "pads", "", "axes"}) == std::nullopt);
    CHECK(rank(demands::any_input, 0, {"x", "w"}) == 3U);
    CHECK(rank(demands::any_input, 0, {"x", "v"}) == std::nullopt);
}

} // namespace test::types_detail_demand_rules
