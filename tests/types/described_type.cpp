// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/described_type.hpp>

#include "../catch.hpp"

#include <cstdint>
#include <string>

namespace test::types_described_type {

TEST_CASE("described_type: has brackets if the rank is known") {
    stemma::described_type type{"float32", {}, false};
    CHECK(stemma::detail::shape_text(type).empty());
    CHECK(to_text(type) == "float32");
    type.has_shape = true;
    CHECK(stemma::detail::shape_text(type) == "[]");
    type.shape = {std::int64_t{3}, std::string("n"), std::int64_t{-1}};
    CHECK(stemma::detail::shape_text(type) == "[3,n,?]");
    CHECK(to_text(type) == "float32[3,n,?]");
    CHECK(type == stemma::described_type{"float32", {3, "n", -1}, true});
}

} // namespace test::types_described_type
