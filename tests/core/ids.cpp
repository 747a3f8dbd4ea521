// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/ids.hpp>

#include "../catch.hpp"

#include <stemma/handles.hpp>

#include <concepts>
#include <type_traits>

namespace test::core_ids {

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

TEST_CASE("index_arg: takes a handle, its id or a number, and no other kind of id") {
    using module_arg = stemma::index_arg<module_id>;
    STATIC_REQUIRE(module_arg(module_id{7}) == id{7});
    STATIC_REQUIRE(module_arg(id{7}) == id{7});
    STATIC_REQUIRE(std::convertible_to<stemma::module_ref, module_arg>);
    STATIC_REQUIRE(!std::convertible_to<node_id, module_arg>);
    STATIC_REQUIRE(!std::convertible_to<stemma::node_ref, module_arg>);
    STATIC_REQUIRE(std::is_trivially_copyable_v<module_arg>);
}

} // namespace test::core_ids
