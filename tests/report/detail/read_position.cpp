// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/detail/read_position.hpp>

#include "../../catch.hpp"

namespace test::report_detail_read_position {

TEST_CASE("read_position: a graph and an index, else nothing") {
    using stemma::detail::read_position;
    REQUIRE(read_position("5/body#2"));
    CHECK(read_position("5/body#2")->graph == "5/body");
    CHECK(read_position("5/body#2")->index == 2);
    REQUIRE(read_position("#7"));
    CHECK(read_position("#7")->graph.empty());
    REQUIRE(read_position("#4294967296"));
    CHECK(read_position("#4294967296")->index == stemma::no_id);
    for (const auto* text : {"", "#", "7", "#7x", "#-1", "# 7"}) {
        CHECK_FALSE(read_position(text));
    }
}

} // namespace test::report_detail_read_position
