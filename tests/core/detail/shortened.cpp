// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/shortened.hpp>

#include "../../catch.hpp"

namespace test::core_detail_shortened {

TEST_CASE("shortened: cuts between characters") {
    CHECK(stemma::detail::shortened("abc", 3) == "abc");
    CHECK(stemma::detail::shortened("abcd", 3) == "abc\xe2\x80\xa6");
    CHECK(stemma::detail::shortened("\xc3\xa4\xc3\xa4\xc3\xa4", 2) ==
          "\xc3\xa4\xc3\xa4\xe2\x80\xa6");
}

} // namespace test::core_detail_shortened
