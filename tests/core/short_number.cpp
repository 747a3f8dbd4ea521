// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/short_number.hpp>

#include "../catch.hpp"

#include <cstdint>
#include <limits>

namespace test::core_short_number {

TEST_CASE("short_number: three digits, rounded, and a unit", "[short_number]") {
    using stemma::short_number;
    CHECK(short_number(0) == "0");
    CHECK(short_number(999) == "999");
    CHECK(short_number(-999) == "-999");
    CHECK(short_number(1000) == "1.00 k");
    CHECK(short_number(1056) == "1.06 k");
    CHECK(short_number(-23'392) == "-23.4 k");
    CHECK(short_number(99'949) == "99.9 k");
    CHECK(short_number(99'950) == "100 k");
    CHECK(short_number(999'499) == "999 k");
    CHECK(short_number(999'500) == "1.00 M");
    CHECK(short_number(110'000'000) == "110 M");
    CHECK(short_number(std::numeric_limits<std::int64_t>::max()) == "9.22 E");
}

} // namespace test::core_short_number
