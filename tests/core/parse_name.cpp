// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/parse_name.hpp>

#include "../catch.hpp"

#include <stemma/cost/model_cost.hpp>

namespace test::core_parse_name {

enum class nameless { first };

template <class Enum>
concept is_parsed = requires {
    stemma::parse_name<Enum>("");
};

TEST_CASE("parse_name: knows the names of an enumeration and no others") {
    STATIC_REQUIRE(stemma::parse_name<stemma::cost_measure>("macs") == stemma::cost_measure::macs);
    STATIC_REQUIRE(stemma::parse_name<stemma::cost_measure>("activations") ==
                   stemma::cost_measure::activations);
    STATIC_REQUIRE_FALSE(stemma::parse_name<stemma::cost_measure>("mac"));
    STATIC_REQUIRE_FALSE(stemma::parse_name<stemma::cost_measure>(""));
}

TEST_CASE("parse_name: rejects an enumeration without names") {
    STATIC_REQUIRE(is_parsed<stemma::cost_measure>);
    STATIC_REQUIRE_FALSE(is_parsed<nameless>);
}

} // namespace test::core_parse_name
