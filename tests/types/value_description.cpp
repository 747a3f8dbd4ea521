// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/value_description.hpp>

#include "../catch.hpp"

namespace test::types_value_description {

TEST_CASE("value_description: combines type and shape", "[value_description]") {
    const stemma::value_description value{"x", "float32", "[1,seq,?]"};
    CHECK(value.type_and_shape() == "float32[1,seq,?]");
    CHECK(stemma::value_description{"x", "", ""}.type_and_shape().empty());
}

TEST_CASE("value_describer: accepts anything that describes a value by number",
          "[value_description]") {
    STATIC_REQUIRE(stemma::detail::value_describer<stemma::detail::no_descriptions>);
    const auto mine = [](stemma::id value) {
        return stemma::value_description{std::to_string(value), "", ""};
    };
    STATIC_REQUIRE(stemma::detail::value_describer<decltype(mine)>);
    STATIC_REQUIRE(!stemma::detail::value_describer<int>);
    CHECK(stemma::detail::no_descriptions{}(3).name.empty());
}

} // namespace test::types_value_description
