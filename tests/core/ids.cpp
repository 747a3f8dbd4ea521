// SPDX-License-Identifier: Apache-2.0
#include <stemma/ids.hpp>

#include "catch.hpp"

#include <concepts>
#include <type_traits>

namespace test::ids {

using stemma::id;
using stemma::module_id;
using stemma::node_id;
using stemma::parameter_id;
using stemma::value_id;

TEST_CASE("typed ids: none converts to another one or to a number") {
    STATIC_REQUIRE(!std::convertible_to<node_id, module_id>);
    STATIC_REQUIRE(!std::convertible_to<value_id, node_id>);
    STATIC_REQUIRE(!std::convertible_to<parameter_id, value_id>);
    STATIC_REQUIRE(!std::convertible_to<node_id, id>);
    STATIC_REQUIRE(!std::convertible_to<id, node_id>);
    STATIC_REQUIRE(sizeof(node_id) == sizeof(id));
}

TEST_CASE("to_index: returns the number an id was made from") {
    STATIC_REQUIRE(stemma::to_index(module_id{7}) == 7);
    STATIC_REQUIRE(std::same_as<decltype(stemma::to_index(value_id{7})), id>);
}

} // namespace test::ids
