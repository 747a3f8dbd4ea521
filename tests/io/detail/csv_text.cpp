// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/detail/csv_text.hpp>

#include "../../catch.hpp"

namespace test::io_detail_csv_text {

TEST_CASE("csv_row: fields containing separators are quoted") {
    CHECK(stemma::detail::csv_row("plain", 3, "") == "plain,3,\n");
    CHECK(stemma::detail::csv_row("a,b", "say \"x\"", "two\nlines") ==
          "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n");
}

} // namespace test::io_detail_csv_text
