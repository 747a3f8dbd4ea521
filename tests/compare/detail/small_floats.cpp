// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/small_floats.hpp>

#include "../../catch.hpp"

#include <cmath>
#include <cstdint>

namespace test::compare_detail_small_floats {

namespace {

float value(std::int64_t type, std::uint32_t bits) {
    return stemma::detail::small_float_value(stemma::detail::small_float_type(type).value(), bits);
}

} // namespace

TEST_CASE("small_float_value: float16 and bfloat16 are those of IEEE") {
    CHECK(value(10, 0x3c00) == 1.0F);
    CHECK(value(10, 0xc000) == -2.0F);
    CHECK(value(10, 0x7bff) == 65504.0F);
    CHECK(value(10, 0x0001) == std::ldexp(1.0F, -24));
    CHECK(std::isinf(value(10, 0x7c00)));
    CHECK(std::isnan(value(10, 0x7e00)));
    CHECK(value(16, 0x3f80) == 1.0F);
    CHECK(value(16, 0xbfc0) == -1.5F);
    CHECK(std::isnan(value(16, 0x7fc0)));
}

TEST_CASE("small_float_value: types of eight bits and less have their own limits") {
    CHECK(value(17, 0x7e) == 448.0F); // e4m3fn
    CHECK(std::isnan(value(17, 0x7f)));
    CHECK(value(18, 0x7f) == 240.0F); // e4m3fnuz
    CHECK(std::isnan(value(18, 0x80)));
    CHECK(value(19, 0x7b) == 57344.0F); // e5m2
    CHECK(std::isinf(value(19, 0x7c)));
    CHECK(value(20, 0x7f) == 57344.0F); // e5m2fnuz
    CHECK(value(23, 0x7) == 6.0F);      // e2m1
    CHECK(value(23, 0x9) == -0.5F);
    CHECK(value(24, 127) == 1.0F); // e8m0
    CHECK(value(24, 0) == std::ldexp(1.0F, -127));
    CHECK(std::isnan(value(24, 255)));
}

TEST_CASE("small_float_type: rejects other types") {
    for (const std::int64_t type : {0, 1, 6, 11, 21, 99}) {
        CHECK(!stemma::detail::small_float_type(type));
    }
}

} // namespace test::compare_detail_small_floats
