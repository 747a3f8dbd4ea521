// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/cost_measure.hpp>

#include "../catch.hpp"

namespace test::cost_cost_measure {

TEST_CASE("cost_measure: knows its names and no others", "[cost]") {
    STATIC_REQUIRE(stemma::parse_name<stemma::cost_measure>("macs") == stemma::cost_measure::macs);
    STATIC_REQUIRE(stemma::parse_name<stemma::cost_measure>("flops") ==
                   stemma::cost_measure::flops);
    STATIC_REQUIRE(stemma::parse_name<stemma::cost_measure>("activations") ==
                   stemma::cost_measure::activations);
    STATIC_REQUIRE_FALSE(stemma::parse_name<stemma::cost_measure>("bytes"));
    STATIC_REQUIRE_FALSE(stemma::parse_name<stemma::cost_measure>(""));
}

} // namespace test::cost_cost_measure
