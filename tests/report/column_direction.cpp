// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/column_direction.hpp>

#include "../catch.hpp"

namespace test::report_column_direction {

TEST_CASE("read_direction: accepts three words") {
    using stemma::column_direction;
    auto direction = column_direction::neither;
    CHECK(stemma::detail::read_direction("lower", direction));
    CHECK(direction == column_direction::lower);
    CHECK(stemma::detail::read_direction("higher", direction));
    CHECK(direction == column_direction::higher);
    CHECK(stemma::detail::read_direction("neither", direction));
    CHECK(direction == column_direction::neither);
    CHECK_FALSE(stemma::detail::read_direction("down", direction));
}

} // namespace test::report_column_direction
