// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/dotted_path.hpp>

#include "../../catch.hpp"

namespace test::core_detail_dotted_path {

using stemma::detail::has_empty_part;

TEST_CASE("has_empty_part: between, before and behind dots") {
    CHECK(has_empty_part("."));
    CHECK(has_empty_part(".a"));
    CHECK(has_empty_part("a."));
    CHECK(has_empty_part("a..b"));
    CHECK(has_empty_part("..."));
}

TEST_CASE("has_empty_part: names and the root have none") {
    CHECK_FALSE(has_empty_part(""));
    CHECK_FALSE(has_empty_part("a"));
    CHECK_FALSE(has_empty_part(" "));
    CHECK_FALSE(has_empty_part("a.b.0"));
}

} // namespace test::core_detail_dotted_path
