// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/ascii.hpp>

#include "../../catch.hpp"

#include <string>

namespace test::core_detail_ascii {

using stemma::detail::is_alphanumeric;
using stemma::detail::is_capital;
using stemma::detail::is_digit;
using stemma::detail::is_number;
using stemma::detail::to_lower;

TEST_CASE("is_digit, is_alphanumeric: exactly those of ASCII") {
    const std::string digits = "0123456789";
    const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (int code = -128; code < 128; ++code) {
        const auto c = static_cast<char>(code);
        CHECK(is_digit(c) == (digits.find(c) != digits.npos));
        CHECK(is_alphanumeric(c) == ((digits + letters).find(c) != digits.npos));
    }
}

TEST_CASE("is_capital, to_lower: exactly the capitals of ASCII change") {
    const std::string capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const std::string small = "abcdefghijklmnopqrstuvwxyz";
    for (int code = -128; code < 128; ++code) {
        const auto c = static_cast<char>(code);
        const auto at = capitals.find(c);
        CHECK(is_capital(c) == (at != capitals.npos));
        CHECK(to_lower(c) == (at == capitals.npos ? c : small[at]));
    }
    CHECK(to_lower("Conv2D \xc3\x84_x") == "conv2d \xc3\x84_x");
}

TEST_CASE("is_number: digits only, at least one") {
    CHECK(is_number("0"));
    CHECK(is_number("0123456789"));
    for (const auto* text : {"", "a", "1a", "-1", "1.0", " 1", "\xd9\xa1"}) {
        CHECK_FALSE(is_number(text));
    }
}

} // namespace test::core_detail_ascii
