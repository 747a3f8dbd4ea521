// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/dotted_path.hpp>

#include "../../catch.hpp"

namespace test::core_detail_dotted_path {

using stemma::detail::has_empty_part;
using stemma::detail::member_path;
using stemma::detail::path_around;

TEST_CASE("has_empty_part: finds them before, between and after dots") {
    CHECK(has_empty_part("."));
    CHECK(has_empty_part(".a"));
    CHECK(has_empty_part("a."));
    CHECK(has_empty_part("a..b"));
    CHECK(has_empty_part("..."));
}

TEST_CASE("has_empty_part: not in names nor in the root") {
    CHECK_FALSE(has_empty_part(""));
    CHECK_FALSE(has_empty_part("a"));
    CHECK_FALSE(has_empty_part(" "));
    CHECK_FALSE(has_empty_part("a.b.0"));
}

TEST_CASE("path_around: all parts but the last") {
    CHECK(path_around("").empty());
    CHECK(path_around("a").empty());
    CHECK(path_around("a.b") == "a");
    CHECK(path_around("a.b.0") == "a.b");
}

TEST_CASE("member_path: the root's path is not part of it") {
    CHECK(member_path("a.b", "0") == "a.b.0");
    CHECK(member_path("", "a") == "a");
}

} // namespace test::core_detail_dotted_path
