// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/edge_values.hpp>

#include "../catch.hpp"
#include "../random_graphs.hpp"

#include <stemma/model/operator_graph.hpp>

namespace test::model_edge_values {

TEST_CASE("carries_values: holds for graphs whose edges know their values",
          "[graph][edge_values]") {
    STATIC_REQUIRE(stemma::carries_values<stemma::operator_graph>);
    STATIC_REQUIRE_FALSE(stemma::carries_values<test::list_graph>);
}

TEST_CASE("value_on: the value of an edge, or else its producer", "[graph][edge_values]") {
    const stemma::operator_graph valued(2, [](auto take) { take({0, 1, 7, 0, 0}); });
    CHECK(stemma::detail::value_on(valued, *edges(valued).first) == 7);
    const auto plain = test::as_list_graph({3, {{1, 2}}});
    CHECK(stemma::detail::value_on(plain, *edges(plain).first) == 1);
}

} // namespace test::model_edge_values
