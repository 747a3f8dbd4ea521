// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/sketch_digits.hpp>

#include "../../catch.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace test::record_detail_sketch_digits {

using stemma::detail::digit_reader;
using stemma::detail::digit_writer;

TEST_CASE("digit_writer: digit_reader reads all numbers back, small ones from one digit") {
    const std::vector<std::uint64_t> numbers{0, 1, 31, 32, 1023, 1024, 123456789, UINT32_MAX};
    std::string text;
    digit_writer digits(text);
    for (const auto number : numbers) {
        digits.number(number);
        digits.fixed<5>(static_cast<std::uint32_t>(number & 0x3fff'ffffU));
    }
    digit_reader reader(text);
    for (const auto number : numbers) {
        CHECK(reader.number() == number);
        CHECK(reader.fixed(5) == (number & 0x3fff'ffffU));
    }
    CHECK(reader.done());
    CHECK_FALSE(reader.failed());
    text.clear();
    digits.number(31);
    CHECK(text.size() == 1);
    for (const std::int64_t n : {0, 1, -1, 2, -2, 1000000, -1000000}) {
        CHECK(digit_reader::unzigzag(digit_writer::zigzag(n)) == n);
    }
    CHECK(digit_writer::zigzag(16) == 31);
}

TEST_CASE("digit_reader: rejects truncated, invalid and overlong digits") {
    for (const auto* text : {"", "g", "!", "//////////", "////////////A"}) {
        digit_reader reader(text);
        static_cast<void>(reader.number());
        CHECK(reader.failed());
    }
    digit_reader reader("AAAA");
    static_cast<void>(reader.fixed(5));
    CHECK(reader.failed());
}

} // namespace test::record_detail_sketch_digits
